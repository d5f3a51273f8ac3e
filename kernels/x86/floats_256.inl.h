// SPDX-License-Identifier: Apache-2.0
//
// Vectors of simd/floats.h in 256 bits: AVX2, FMA and F16C. 16 registers, an fma of latency 4 at 2 a cycle: 8
// sums or more must be in flight. Everything has internal linkage: see "Kernels" in docs/design.md.
#pragma once

#include "kernels/simd/floats.h"
#include "kernels/x86/math_avx2.inl.h"

namespace mote {
namespace {

struct Floats256 : FloatScores<Floats256> {
  using Float = __m256;
  using Int = __m256i;  // int32
  static constexpr uint32_t kLanes = 8;
  static constexpr bool kFused = true;
  static constexpr bool kLooksUp = false;
  static constexpr uint32_t kVectors = 2;

  // Linear, rows by panels: tiles are 1 x 4, up to 3 x 2, up to 6 x 1.
  static constexpr uint32_t kRows = 6, kPanels = 1;
  static constexpr uint32_t kFewRows = 3, kFewPanels = 2;

  // Attention: 1 to 4 queries by 4 to 1 blocks.
  static constexpr uint32_t kQueries = 4;
  static constexpr uint32_t blocks(uint32_t queries) { return queries == 1 ? 4 : queries <= 3 ? 2 : 1; }

  using Dot = Float;
  using Total = __m256;

  static Float set(float value) { return _mm256_set1_ps(value); }
  static Float load(const float* from) { return _mm256_loadu_ps(from); }
  static Float load(const uint16_t* half) { return avx2::load8(half); }
  template <class T>
  static Float load_first(const T* from, uint32_t count) {
    return avx2::load_first(from, count);
  }
  static void store(float* to, Float x) { _mm256_storeu_ps(to, x); }
  static void store_first(float* to, uint32_t count, Float x) { avx2::store_first(to, count, x); }

  static Float add(Float a, Float b) { return _mm256_add_ps(a, b); }
  static Float sub(Float a, Float b) { return _mm256_sub_ps(a, b); }
  static Float mul(Float a, Float b) { return _mm256_mul_ps(a, b); }
  static Float div(Float a, Float b) { return _mm256_div_ps(a, b); }
  static Float fma(Float a, Float b, Float c) { return _mm256_fmadd_ps(a, b, c); }
  static Float negated_fma(Float a, Float b, Float c) { return _mm256_fnmadd_ps(a, b, c); }
  static Float min(Float a, Float b) { return _mm256_min_ps(a, b); }
  static Float max(Float a, Float b) { return _mm256_max_ps(a, b); }
  static Float where_less(Float a, Float b, Float yes, Float no) {
    return _mm256_blendv_ps(no, yes, _mm256_cmp_ps(a, b, _CMP_LT_OQ));
  }
  static Float abs(Float x) { return _mm256_andnot_ps(set(-0.0f), x); }
  static Float negate(Float x) { return _mm256_xor_ps(set(-0.0f), x); }
  static Float copy_sign(Float magnitude, Float x) {
    return _mm256_or_ps(magnitude, _mm256_and_ps(set(-0.0f), x));
  }

  static Int to_int(Float x) { return _mm256_cvtps_epi32(x); }
  static Float to_float(Int n) { return _mm256_cvtepi32_ps(n); }
  static Float add_to_exponent(Float x, Int n) {
    return _mm256_castsi256_ps(_mm256_add_epi32(_mm256_castps_si256(x), _mm256_slli_epi32(n, 23)));
  }

  static Float where_within(uint32_t begin, uint32_t end, uint32_t first, Float x, float other) {
    const Int position = _mm256_add_epi32(_mm256_set1_epi32(static_cast<int>(first)),
                                          _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
    const Int before = _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(begin)), position);
    const Int ahead = _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(end)), position);
    return _mm256_blendv_ps(set(other), x, _mm256_castsi256_ps(_mm256_andnot_si256(before, ahead)));
  }
  static float max_lanes(Float x) { return avx2::max_lanes(x); }
  static Total add_weights(Total sums, Float x) { return _mm256_add_ps(sums, x); }
  static float sum(Total sums) { return avx2::sum_lanes(sums); }
};

}  // namespace
}  // namespace mote
