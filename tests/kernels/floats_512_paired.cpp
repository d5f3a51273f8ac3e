// SPDX-License-Identifier: Apache-2.0
#include "kernels/x86/attention.inl.h"
#include "kernels/x86/floats_256.inl.h"
#include "kernels/x86/linear_float.inl.h"
#include "kernels/x86/tile_shapes_512.h"
#include "tests/support/paired_floats.h"

namespace mote::test {
namespace {

/// Floats512, but each vector is two of Floats256.
struct PairedFloats : TileShapes512 {
  using Half = Floats256;
  struct Float {
    __m256 low, high;
  };

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
  static Float mul(Float a, Float b) { return {Half::mul(a.low, b.low), Half::mul(a.high, b.high)}; }
  static Float fma(Float a, Float b, Float c) {
    return {Half::fma(a.low, b.low, c.low), Half::fma(a.high, b.high, c.high)};
  }

 private:
  static uint32_t beyond(uint32_t count) { return count > 8 ? count - 8 : 0; }
};

template <class T>
void linear(const LinearArgs& args, Range panels, void*) {
  float_linear<PairedFloats, T>(args, panels);
}

template <class T>
void attention(const AttentionArgs& args, Range units, void* scratch) {
  avx2::attention<PairedFloats, T>(args, units, scratch);
}

const KernelEntry kKernels[kPairedFloatKernelCount] = {
    {Op::kLinear, DType::f32, DType::f32, Isa::kAvx512Vnni, "linear_f32_f32 over pairs",
     reinterpret_cast<AnyKernel>(&linear<float>)},
    {Op::kLinear, DType::f32, DType::f16, Isa::kAvx512Vnni, "linear_f32_f16 over pairs",
     reinterpret_cast<AnyKernel>(&linear<uint16_t>)},
    {Op::kAttention, DType::f32, DType::f32, Isa::kAvx512Vnni, "attention_f32_f32 over pairs",
     reinterpret_cast<AnyKernel>(&attention<float>)},
    {Op::kAttention, DType::f32, DType::f16, Isa::kAvx512Vnni, "attention_f32_f16 over pairs",
     reinterpret_cast<AnyKernel>(&attention<uint16_t>)},
};

}  // namespace

const KernelEntry* const kPairedFloatKernels = kKernels;

}  // namespace mote::test
