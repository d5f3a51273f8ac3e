// SPDX-License-Identifier: Apache-2.0
//
// Vectors of simd/floats.h in 512 bits: AVX-512 F, BW and DQ. Everything has internal linkage: see "Kernels"
// in docs/design.md.
#pragma once

#include "kernels/simd/floats.h"
#include "kernels/x86/math_avx2.inl.h"
#include "kernels/x86/tile_shapes_512.h"

namespace mote {
namespace {

struct Floats512 : TileShapes512, FloatScores<Floats512> {
  using Float = __m512;
  using Int = __m512i;
  static constexpr bool kFused = true;
  static constexpr bool kLooksUp = true;
  using Dot = Float;
  using Total = __m256;

  static Float set(float value) { return _mm512_set1_ps(value); }
  static Float load(const float* from) { return _mm512_loadu_ps(from); }
  static Float load(const uint16_t* half) {
    return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(half)));
  }
  static Float load_first(const float* from, uint32_t count) {
    return _mm512_maskz_loadu_ps(first_lanes(count), from);
  }
  static Float load_first(const uint16_t* half, uint32_t count) {
    return _mm512_cvtph_ps(_mm256_maskz_loadu_epi16(first_lanes(count), half));
  }
  static void store(float* to, Float x) { _mm512_storeu_ps(to, x); }
  static void store_first(float* to, uint32_t count, Float x) {
    _mm512_mask_storeu_ps(to, first_lanes(count), x);
  }

  static Float add(Float a, Float b) { return _mm512_add_ps(a, b); }
  static Float sub(Float a, Float b) { return _mm512_sub_ps(a, b); }
  static Float mul(Float a, Float b) { return _mm512_mul_ps(a, b); }
  static Float div(Float a, Float b) { return _mm512_div_ps(a, b); }
  static Float fma(Float a, Float b, Float c) { return _mm512_fmadd_ps(a, b, c); }
  static Float negated_fma(Float a, Float b, Float c) { return _mm512_fnmadd_ps(a, b, c); }
  static Float min(Float a, Float b) { return _mm512_min_ps(a, b); }
  static Float max(Float a, Float b) { return _mm512_max_ps(a, b); }
  static Float where_less(Float a, Float b, Float yes, Float no) {
    return _mm512_mask_mov_ps(no, _mm512_cmp_ps_mask(a, b, _CMP_LT_OQ), yes);
  }
  static Float abs(Float x) { return _mm512_abs_ps(x); }
  static Float limit(Float x, Float most) { return _mm512_range_ps(x, most, 0b0010); }
  static Float negate(Float x) { return _mm512_xor_ps(set(-0.0f), x); }
  static Float copy_sign(Float magnitude, Float x) {
    return _mm512_or_ps(magnitude, _mm512_and_ps(set(-0.0f), x));
  }

  static Int to_int(Float x) { return _mm512_cvtps_epi32(x); }
  static Float to_float(Int n) { return _mm512_cvtepi32_ps(n); }
  static Float look_up(const float (&table)[2][16], Float i) {
    return _mm512_permutex2var_ps(_mm512_load_ps(table[0]), _mm512_castps_si512(i), _mm512_load_ps(table[1]));
  }
  static Float add_to_exponent(Float x, Int n) {
    return _mm512_castsi512_ps(_mm512_add_epi32(_mm512_castps_si512(x), _mm512_slli_epi32(n, 23)));
  }

  static Float where_within(uint32_t begin, uint32_t end, uint32_t at, Float x, float other) {
    const uint32_t before = begin > at ? begin - at : 0, seen = end > at ? end - at : 0;
    const __mmask16 within = static_cast<__mmask16>(first_lanes(seen) & ~first_lanes(before));
    return _mm512_mask_mov_ps(set(other), within, x);
  }
  static float max_lanes(Float x) { return avx2::max_lanes(_mm256_max_ps(low(x), high(x))); }
  static Total add_weights(Total sums, Float x) {
    return _mm256_add_ps(_mm256_add_ps(sums, low(x)), high(x));
  }
  static float sum(Total sums) { return avx2::sum_lanes(sums); }

 protected:
  static __mmask16 first_lanes(uint32_t count) {
    return static_cast<__mmask16>(count >= kLanes ? 0xFFFF : (1u << count) - 1);
  }
  static __m256 low(Float x) { return _mm512_castps512_ps256(x); }
  static __m256 high(Float x) { return _mm512_extractf32x8_ps(x, 1); }
};

}  // namespace
}  // namespace mote
