// SPDX-License-Identifier: Apache-2.0
//
// Dot products of simd/dots.h in 128 bits: SSE4.1. Shifts turn the bytes at
// even and at odd places into int16, and madd adds their products in pairs:
// exact for all bytes, -128 included, so that weights need no bias. The shifts
// of a weight serve all rows of a tile, those of a word of activations serve
// all its vectors. Everything has internal linkage: see "Kernels" in
// docs/design.md.
#pragma once

#include "kernels/simd/dot_words.h"
#include "kernels/x86/floats_128.inl.h"
#include "kernels/x86/linear_finish.inl.h"

namespace mote {
namespace {

struct Dots128 : DotFloats<Floats128>, DotWords<Floats128> {
  static constexpr uint32_t kWeightBias = 0;
  static constexpr uint32_t kRowPanels = 1, kPairRows = 1, kSingleRows = 2;
  static constexpr bool kUnrollsQuads = false;
  using DotFloats::set;
  using DotWords::set;

  static Int load(const void* bytes) { return _mm_load_si128(static_cast<const __m128i*>(bytes)); }
  static void store(void* bytes, Int v) { _mm_store_si128(static_cast<__m128i*>(bytes), v); }
  static Int dot(Int sum, Int w, Int a) {
    return _mm_add_epi32(sum,
                         _mm_add_epi32(_mm_madd_epi16(even(w), even(a)), _mm_madd_epi16(odd(w), odd(a))));
  }
  static Int minus_32(Int v) { return _mm_sub_epi8(v, _mm_set1_epi8(32)); }
  static void pin(Int&) {}

  static Float load_f32(const float* from) { return _mm_load_ps(from); }
  static void store_f32(float* to, Float v) { _mm_store_ps(to, v); }
  static Float load_f16(const uint16_t* from) { return Floats128::load(from); }
  static Float convert(Int v) { return _mm_cvtepi32_ps(v); }

  /// Rounded once, by doubles: see fma_odd. Not inlined: it has many callers,
  /// and is called once for 32 products.
  MOTE_OWN_REGISTERS static Float fma(Float a, Float b, Float c) {
    const __m128d low = fma_odd(_mm_cvtps_pd(a), _mm_cvtps_pd(b), _mm_cvtps_pd(c));
    const __m128d high = fma_odd(upper(a), upper(b), upper(c));
    return _mm_movelh_ps(_mm_cvtpd_ps(low), _mm_cvtpd_ps(high));
  }

 private:
  static Int even(Int v) { return _mm_srai_epi16(_mm_slli_epi16(v, 8), 8); }
  static Int odd(Int v) { return _mm_srai_epi16(v, 8); }
  static __m128d upper(Float x) { return _mm_cvtps_pd(_mm_movehl_ps(x, x)); }

  /// a b + c of floats converted to doubles, rounded to odd: where the double
  /// is not exact, its last bit is 1. Rounding it to a float then equals
  /// rounding the exact sum (Boldo and Melquiond 2008). The product is exact;
  /// Knuth's two-sum gives the error of the sum.
  static __m128d fma_odd(__m128d a, __m128d b, __m128d c) {
    const __m128d product = _mm_mul_pd(a, b), sum = _mm_add_pd(product, c), part = _mm_sub_pd(sum, product);
    const __m128d error = _mm_add_pd(_mm_sub_pd(product, _mm_sub_pd(sum, part)), _mm_sub_pd(c, part));
    // False for a NaN: infinities stay.
    const __m128d inexact = _mm_cmpgt_pd(_mm_andnot_pd(_mm_set1_pd(-0.0), error), _mm_setzero_pd());
    const __m128i ones = _mm_srli_epi64(_mm_castpd_si128(inexact), 63);
    // One less in magnitude where the error is against the sum, then odd.
    const __m128i against = _mm_srli_epi64(_mm_castpd_si128(_mm_xor_pd(error, sum)), 63);
    const __m128i truncated = _mm_sub_epi64(_mm_castpd_si128(sum), _mm_and_si128(against, ones));
    return _mm_castsi128_pd(_mm_or_si128(truncated, ones));
  }
};

}  // namespace
}  // namespace mote
