// SPDX-License-Identifier: Apache-2.0
//
// Vectors of simd/floats.h in 128 bits: SSE4.1, without fused multiply-add and without halves, which are
// converted by integers as schema/f16.h does it. 16 registers. Everything has internal linkage: see "Kernels"
// in docs/design.md.
#pragma once

#include <smmintrin.h>
#include <string.h>

#include "kernels/simd/floats.h"

namespace mote {
namespace {

struct Floats128 : FloatScores<Floats128> {
  using Float = __m128;
  using Int = __m128i;  // int32
  static constexpr uint32_t kLanes = 4;
  static constexpr uint32_t kVectors = 4;
  static constexpr bool kFused = false;
  static constexpr bool kLooksUp = false;

  // Linear: tiles are 1 x 4 and up to 2 x 1.
  static constexpr uint32_t kRows = 2, kPanels = 1;
  static constexpr uint32_t kFewRows = 2, kFewPanels = 1;

  // Attention: 1 or 2 queries by 2 or 1 blocks of 16 positions.
  static constexpr uint32_t kQueries = 2;
  static constexpr uint32_t blocks(uint32_t queries) { return queries == 1 ? 2 : 1; }
  using Dot = Float;
  using Total = Float;

  static Float set(float value) { return _mm_set1_ps(value); }
  static Float load(const float* from) { return _mm_loadu_ps(from); }
  static Float load(const uint16_t* half) {
    return from_halves(_mm_cvtepu16_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(half))));
  }
  template <class T>
  static Float load_first(const T* from, uint32_t count) {
    return count >= kLanes ? load(from) : load_few(from, count);
  }
  static void store(float* to, Float x) { _mm_storeu_ps(to, x); }
  static void store_first(float* to, uint32_t count, Float x) {
    if (count >= kLanes) return store(to, x);
    store_few(to, count, x);
  }

  static Float add(Float a, Float b) { return _mm_add_ps(a, b); }
  static Float sub(Float a, Float b) { return _mm_sub_ps(a, b); }
  static Float mul(Float a, Float b) { return _mm_mul_ps(a, b); }
  static Float div(Float a, Float b) { return _mm_div_ps(a, b); }
  static Float fma(Float a, Float b, Float c) { return add(mul(a, b), c); }
  static Float negated_fma(Float a, Float b, Float c) { return sub(c, mul(a, b)); }
  static Float min(Float a, Float b) { return _mm_min_ps(a, b); }
  static Float max(Float a, Float b) { return _mm_max_ps(a, b); }
  static Float where_less(Float a, Float b, Float yes, Float no) {
    return _mm_blendv_ps(no, yes, _mm_cmplt_ps(a, b));
  }
  static Float abs(Float x) { return _mm_andnot_ps(set(-0.0f), x); }
  static Float negate(Float x) { return _mm_xor_ps(set(-0.0f), x); }
  static Float copy_sign(Float magnitude, Float x) { return _mm_or_ps(magnitude, _mm_and_ps(set(-0.0f), x)); }

  static Int to_int(Float x) { return _mm_cvtps_epi32(x); }
  static Float to_float(Int n) { return _mm_cvtepi32_ps(n); }
  static Float add_to_exponent(Float x, Int n) {
    return _mm_castsi128_ps(_mm_add_epi32(_mm_castps_si128(x), _mm_slli_epi32(n, 23)));
  }

  static Float where_within(uint32_t begin, uint32_t end, uint32_t first, Float x, float other) {
    const Int position = _mm_add_epi32(_mm_set1_epi32(static_cast<int>(first)), _mm_setr_epi32(0, 1, 2, 3));
    const Int before = _mm_cmplt_epi32(position, _mm_set1_epi32(static_cast<int>(begin)));
    const Int ahead = _mm_cmplt_epi32(position, _mm_set1_epi32(static_cast<int>(end)));
    return _mm_blendv_ps(set(other), x, _mm_castsi128_ps(_mm_andnot_si128(before, ahead)));
  }
  static float max_lanes(Float x) {
    x = _mm_max_ps(x, _mm_movehl_ps(x, x));
    return _mm_cvtss_f32(_mm_max_ss(x, _mm_shuffle_ps(x, x, 1)));
  }
  static Total add_weights(Total sums, Float x) { return add(sums, x); }
  /// (0 + 2) + (1 + 3).
  static float sum(Total sums) {
    sums = _mm_add_ps(sums, _mm_movehl_ps(sums, sums));
    return _mm_cvtss_f32(_mm_add_ss(sums, _mm_shuffle_ps(sums, sums, 1)));
  }

 protected:
  /// A half in each lane.
  static Float from_halves(Int h) {
    const Int magnitude = _mm_and_si128(h, _mm_set1_epi32(0x7FFF));
    const Int sign = _mm_slli_epi32(_mm_xor_si128(h, magnitude), 16);
    const Float scaled = mul(_mm_castsi128_ps(_mm_slli_epi32(magnitude, 13)), set(0x1p112f));
    const Int special = _mm_cmpgt_epi32(magnitude, _mm_set1_epi32(0x7BFF));  // infinity and NaN
    const Int nan = _mm_cmpgt_epi32(magnitude, _mm_set1_epi32(0x7C00));
    const Int quiet = _mm_or_si128(_mm_and_si128(special, _mm_set1_epi32(0x7F800000)),
                                   _mm_and_si128(nan, _mm_set1_epi32(0x400000)));
    return _mm_or_ps(scaled, _mm_castsi128_ps(_mm_or_si128(quiet, sign)));
  }

 private:
  // SSE has no masked loads and stores. Not inlined: tails have many callers and take little time.
  template <class T>
  MOTE_OWN_REGISTERS static Float load_few(const T* from, uint32_t count) {
    T first[kLanes] = {};
    for (uint32_t i = 0; i < count; ++i) first[i] = from[i];
    return load(first);
  }
  MOTE_OWN_REGISTERS static void store_few(float* to, uint32_t count, Float x) {
    float all[kLanes];
    store(all, x);
    for (uint32_t i = 0; i < count; ++i) to[i] = all[i];
  }
};

}  // namespace
}  // namespace mote
