// SPDX-License-Identifier: Apache-2.0
#include "kernels/simd/attention.inl.h"
#include "kernels/simd/linear_float.inl.h"
#include "kernels/x86/floats_256.inl.h"
#include "kernels/x86/tile_shapes_512.h"
#include "tests/support/paired_floats.h"

namespace mote::testing {
namespace {

/// Floats512, but each vector is two of Floats256.
struct PairedFloats : TileShapes512, FloatScores<PairedFloats> {
  using Half = Floats256;
  struct Float {
    __m256 low, high;
  };
  struct Int {
    __m256i low, high;
  };
  static constexpr bool kFused = true;
  static constexpr bool kLooksUp = true;

  using Dot = Float;
  using Total = __m256;

  static Float set(float value) { return {Half::set(value), Half::set(value)}; }
  template <class T>
  static Float load(const T* from) {
    return {Half::load(from), Half::load(from + 8)};
  }
  template <class T>
  static Float load_first(const T* from, uint32_t count) {
    return {Half::load_first(from, count), Half::load_first(from + 8, beyond(count))};
  }
  static void store(float* to, Float x) {
    Half::store(to, x.low);
    Half::store(to + 8, x.high);
  }
  static void store_first(float* to, uint32_t count, Float x) {
    Half::store_first(to, count, x.low);
    Half::store_first(to + 8, beyond(count), x.high);
  }

  static Float add(Float a, Float b) { return {Half::add(a.low, b.low), Half::add(a.high, b.high)}; }
  static Float sub(Float a, Float b) { return {Half::sub(a.low, b.low), Half::sub(a.high, b.high)}; }
  static Float mul(Float a, Float b) { return {Half::mul(a.low, b.low), Half::mul(a.high, b.high)}; }
  static Float div(Float a, Float b) { return {Half::div(a.low, b.low), Half::div(a.high, b.high)}; }
  static Float min(Float a, Float b) { return {Half::min(a.low, b.low), Half::min(a.high, b.high)}; }
  static Float max(Float a, Float b) { return {Half::max(a.low, b.low), Half::max(a.high, b.high)}; }
  static Float limit(Float x, Float most) { return copy_sign(min(abs(x), most), x); }
  static Float abs(Float x) { return {Half::abs(x.low), Half::abs(x.high)}; }
  static Float negate(Float x) { return {Half::negate(x.low), Half::negate(x.high)}; }
  static Float copy_sign(Float a, Float b) {
    return {Half::copy_sign(a.low, b.low), Half::copy_sign(a.high, b.high)};
  }
  static Float fma(Float a, Float b, Float c) {
    return {Half::fma(a.low, b.low, c.low), Half::fma(a.high, b.high, c.high)};
  }
  static Float negated_fma(Float a, Float b, Float c) {
    return {Half::negated_fma(a.low, b.low, c.low), Half::negated_fma(a.high, b.high, c.high)};
  }
  static Float where_less(Float a, Float b, Float yes, Float no) {
    return {Half::where_less(a.low, b.low, yes.low, no.low),
            Half::where_less(a.high, b.high, yes.high, no.high)};
  }
  static Float where_within(uint32_t begin, uint32_t end, uint32_t first, Float x, float other) {
    return {Half::where_within(begin, end, first, x.low, other),
            Half::where_within(begin, end, first + 8, x.high, other)};
  }
  static Int to_int(Float x) { return {Half::to_int(x.low), Half::to_int(x.high)}; }
  static Float to_float(Int n) { return {Half::to_float(n.low), Half::to_float(n.high)}; }
  static Half::Float look_up(const float (&table)[2][16], Half::Float i) {
    const Half::Int last_5 = _mm256_and_si256(_mm256_castps_si256(i), _mm256_set1_epi32(31));
    return _mm256_i32gather_ps(table[0], last_5, 4);
  }
  static Float look_up(const float (&table)[2][16], Float i) {
    return {look_up(table, i.low), look_up(table, i.high)};
  }
  static Float add_to_exponent(Float x, Int n) {
    return {Half::add_to_exponent(x.low, n.low), Half::add_to_exponent(x.high, n.high)};
  }
  static float max_lanes(Float x) { return Half::max_lanes(Half::max(x.low, x.high)); }
  static Total add_weights(Total sums, Float x) {
    return Half::add_weights(Half::add_weights(sums, x.low), x.high);
  }
  static float sum(Total sums) { return Half::sum(sums); }

 private:
  static uint32_t beyond(uint32_t count) { return count > 8 ? count - 8 : 0; }
};

template <class T>
void linear(const LinearArgs& args, Range panels, void* scratch) {
  linear_float<PairedFloats, T>(args, panels, scratch);
}

template <class T>
void attention(const AttentionArgs& args, Range units, void* scratch) {
  mote::attention<PairedFloats, T>(args, units, scratch);
}

const KernelEntry kKernels[kPairedFloatKernelCount] = {
    {Op::kLinear, DType::f32, DType::f32, Isa::kAvx512Vnni, "linear_f32_f32 over pairs",
     reinterpret_cast<AnyKernel>(&linear<float>), &linear_float_scratch<PairedFloats, float>},
    {Op::kLinear, DType::f32, DType::f16, Isa::kAvx512Vnni, "linear_f32_f16 over pairs",
     reinterpret_cast<AnyKernel>(&linear<uint16_t>), &linear_float_scratch<PairedFloats, uint16_t>},
    {Op::kAttention, DType::f32, DType::f32, Isa::kAvx512Vnni, "attention_f32_f32 over pairs",
     reinterpret_cast<AnyKernel>(&attention<float>), &attention_scratch<PairedFloats, float>},
    {Op::kAttention, DType::f32, DType::f16, Isa::kAvx512Vnni, "attention_f32_f16 over pairs",
     reinterpret_cast<AnyKernel>(&attention<uint16_t>), &attention_scratch<PairedFloats, uint16_t>},
};

}  // namespace

const KernelEntry* const kPairedFloatKernels = kKernels;

}  // namespace mote::testing
