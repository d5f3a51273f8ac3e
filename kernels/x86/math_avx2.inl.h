// SPDX-License-Identifier: Apache-2.0
//
// Vectors of 8 floats: tails, reductions, exponential, error function, activations. Every function gives a
// lane the same bits whatever the other lanes hold. Errors are the largest over all floats, in units in the
// last place.
#pragma once

#include <immintrin.h>
#include <string.h>

#include "kernels/ops.h"

/// Before a loop of at most 8 turns over an array of registers: without it GCC 12 keeps the array in memory.
#define MOTE_UNROLL _Pragma("GCC unroll 8")
/// Before a loop over memory: what a turn of it does besides multiplying, an eighth of its instructions, is up
/// to a tenth of its time where a hyperthread shares the core. Tiles of AVX-512 multiply twice as often in a turn.
#ifdef __AVX512F__
#define MOTE_UNROLL_2
#define MOTE_UNROLL_4
#else
#define MOTE_UNROLL_2 _Pragma("GCC unroll 2")
#define MOTE_UNROLL_4 _Pragma("GCC unroll 4")
#endif
#define MOTE_INLINE __attribute__((always_inline))
/// Keeps x in a register here; without it GCC 12 keeps some sums of long unrolled loops in memory.
#define MOTE_PIN(x) __asm__("" : "+x"(x))

namespace mote::avx2 {

constexpr uint32_t kLanes = 8;
constexpr uint32_t kGroupVectors = kGroupColumns / kLanes;

/// The first `count` lanes, all of them from 8 on: a mask for the loads and stores below.
static inline __m256i tail_mask(uint32_t count) {
  const int lanes = static_cast<int>(count < kLanes ? count : kLanes);
  return _mm256_cmpgt_epi32(_mm256_set1_epi32(lanes), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}

/// Lanes outside the mask are 0 and their memory is not touched.
static inline __m256 load_masked(const float* from, __m256i mask) { return _mm256_maskload_ps(from, mask); }
static inline void store_masked(float* to, __m256i mask, __m256 x) { _mm256_maskstore_ps(to, mask, x); }

/// The `count` <= 8 first lanes; the others are 0 and their memory is not touched.
static inline __m256 load_first(const float* from, uint32_t count) {
  return count >= kLanes ? _mm256_loadu_ps(from) : load_masked(from, tail_mask(count));
}
static inline void store_first(float* to, uint32_t count, __m256 x) {
  if (count >= kLanes) {
    _mm256_storeu_ps(to, x);
  } else {
    store_masked(to, tail_mask(count), x);
  }
}

/// 8 elements, and the first `count` <= 8 of them, of float or of IEEE half.
static inline __m256 load8(const float* from) { return _mm256_loadu_ps(from); }
static inline __m256 load8(const uint16_t* from) {
  return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
}
static inline __m256 load_first(const uint16_t* from, uint32_t count) {
  uint16_t first[kLanes] = {};
  memcpy(first, from, (count < kLanes ? count : kLanes) * sizeof(uint16_t));
  return load8(first);
}

/// ((0+4) + (2+6)) + ((1+5) + (3+7)).
static inline float sum_lanes(__m256 x) {
  __m128 half = _mm_add_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1));
  half = _mm_add_ps(half, _mm_movehl_ps(half, half));
  return _mm_cvtss_f32(_mm_add_ss(half, _mm_movehdup_ps(half)));
}

/// A NaN lane gives NaN or the largest of the others.
static inline float max_lanes(__m256 x) {
  __m128 half = _mm_max_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1));
  half = _mm_max_ps(half, _mm_movehl_ps(half, half));
  return _mm_cvtss_f32(_mm_max_ss(half, _mm_movehdup_ps(half)));
}

/// exp(x) for x up to 88.72: 1 ulp. 0 where exp(x) is subnormal (x < -87.33655, -inf too); NaN stays NaN.
///
/// With n = round(x / ln 2) and r = x - n ln 2 (ln 2 in two parts, so that r is exact to 2^-33), exp(r) is
/// 1 + r + r^2 P(r), P of degree 4 fitted to 3.1e-9 relative on |r| <= ln 2 / 2; n is added to the exponent
/// field.
static inline __m256 exp_not_large_avx2(__m256 x) {
  const __m256i n = _mm256_cvtps_epi32(_mm256_mul_ps(x, _mm256_set1_ps(0x1.715476p+0f)));
  const __m256 nf = _mm256_cvtepi32_ps(n);
  __m256 r = _mm256_fnmadd_ps(nf, _mm256_set1_ps(0x1.62e400p-1f), x);
  r = _mm256_fnmadd_ps(nf, _mm256_set1_ps(0x1.7f7d1cp-20f), r);
  __m256 p = _mm256_set1_ps(0x1.6a23cep-10f);
  p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(0x1.123a1ep-7f));
  p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(0x1.5558f2p-5f));
  p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(0x1.555492p-3f));
  p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(0x1.fffffcp-2f));
  p = _mm256_fmadd_ps(p, _mm256_mul_ps(r, r), r);
  p = _mm256_add_ps(p, _mm256_set1_ps(1.0f));
  // A NaN has n = INT_MIN, whose shift is 0: the payload stays as it is.
  const __m256 scaled =
      _mm256_castsi256_ps(_mm256_add_epi32(_mm256_castps_si256(p), _mm256_slli_epi32(n, 23)));
  return _mm256_andnot_ps(_mm256_cmp_ps(x, _mm256_set1_ps(-0x1.5d589ep+6f), _CMP_LT_OQ), scaled);
}

/// exp(x) for all x: as above, and infinity where exp(x) exceeds the largest float (x > 88.72283).
static inline __m256 exp_avx2(__m256 x) {
  const __m256 large = _mm256_cmp_ps(x, _mm256_set1_ps(0x1.62e42ep+6f), _CMP_GT_OQ);
  return _mm256_blendv_ps(exp_not_large_avx2(x), _mm256_set1_ps(__builtin_inff()), large);
}

/// erf(x) to 6 ulp, never beyond +-1: x P(x^2) / Q(x^2), both of degree 5, fitted to 1.7e-8 relative up
/// to 3.9.
static inline __m256 erf_avx2(__m256 x) {
  const __m256 t = _mm256_mul_ps(x, x);
  __m256 p = _mm256_set1_ps(2.0664717794716125e-06f);
  p = _mm256_fmadd_ps(p, t, _mm256_set1_ps(0.00028506244416348636f));
  p = _mm256_fmadd_ps(p, t, _mm256_set1_ps(0.0037383560556918383f));
  p = _mm256_fmadd_ps(p, t, _mm256_set1_ps(0.05266811326146126f));
  p = _mm256_fmadd_ps(p, t, _mm256_set1_ps(0.18966706097126007f));
  p = _mm256_fmadd_ps(p, t, _mm256_set1_ps(1.1283791065216064f));
  __m256 q = _mm256_set1_ps(3.827002001344226e-05f);
  q = _mm256_fmadd_ps(q, t, _mm256_set1_ps(0.0011573786614462733f));
  q = _mm256_fmadd_ps(q, t, _mm256_set1_ps(0.014914296567440033f));
  q = _mm256_fmadd_ps(q, t, _mm256_set1_ps(0.11381905525922775f));
  q = _mm256_fmadd_ps(q, t, _mm256_set1_ps(0.5014208555221558f));
  q = _mm256_fmadd_ps(q, t, _mm256_set1_ps(1.0f));
  const __m256 one = _mm256_set1_ps(1.0f);
  const __m256 sign = _mm256_set1_ps(-0.0f);
  __m256 e = _mm256_div_ps(_mm256_mul_ps(_mm256_andnot_ps(sign, x), p), q);
  e = _mm256_min_ps(one, e);  // of a NaN, the second operand
  e = _mm256_blendv_ps(e, one, _mm256_cmp_ps(t, _mm256_set1_ps(3.9f * 3.9f), _CMP_GE_OQ));
  return _mm256_or_ps(e, _mm256_and_ps(sign, x));
}

/// x / (1 + exp(-slope_x)), slope_x a multiple of x. No reciprocal estimate: makers of CPUs differ in it.
static inline __m256 times_sigmoid_avx2(__m256 x, __m256 slope_x) {
  const __m256 e = exp_avx2(_mm256_xor_ps(slope_x, _mm256_set1_ps(-0.0f)));
  return _mm256_div_ps(x, _mm256_add_ps(_mm256_set1_ps(1.0f), e));
}

/// 0.5 x (1 + tanh u) = x / (1 + exp(-2u)) with u = sqrt(2 / pi) (x + 0.044715 x^3).
static inline __m256 gelu_tanh_avx2(__m256 x) {
  const __m256 cubic = _mm256_fmadd_ps(_mm256_mul_ps(x, x), _mm256_set1_ps(0.044715f), _mm256_set1_ps(1.0f));
  return times_sigmoid_avx2(x, _mm256_mul_ps(_mm256_set1_ps(1.5957691216057308f), _mm256_mul_ps(x, cubic)));
}

static inline __m256 gelu_avx2(__m256 x) {
  const __m256 e = erf_avx2(_mm256_mul_ps(x, _mm256_set1_ps(0.70710678118654752f)));
  return _mm256_mul_ps(_mm256_mul_ps(x, _mm256_set1_ps(0.5f)), _mm256_add_ps(_mm256_set1_ps(1.0f), e));
}

/// tanh(x) to 3 ulp: (1 - e) / (1 + e) with e = exp(-2 |x|) and the sign of x; below 0.625, where 1 - e
/// cancels, x + x t P(t) with t = x^2, P of degree 4 fitted to 8.6e-9 relative.
static inline __m256 tanh_avx2(__m256 x) {
  const __m256 t = _mm256_mul_ps(x, x);
  __m256 p = _mm256_set1_ps(-0x1.75e1cap-8f);
  p = _mm256_fmadd_ps(p, t, _mm256_set1_ps(0x1.52269ap-6f));
  p = _mm256_fmadd_ps(p, t, _mm256_set1_ps(-0x1.b83c5ap-5f));
  p = _mm256_fmadd_ps(p, t, _mm256_set1_ps(0x1.110726p-3f));
  p = _mm256_fmadd_ps(p, t, _mm256_set1_ps(-0x1.555532p-2f));
  const __m256 small = _mm256_fmadd_ps(_mm256_mul_ps(x, t), p, x);
  const __m256 sign = _mm256_set1_ps(-0.0f), one = _mm256_set1_ps(1.0f);
  const __m256 magnitude = _mm256_andnot_ps(sign, x);
  const __m256 e = exp_not_large_avx2(_mm256_mul_ps(magnitude, _mm256_set1_ps(-2.0f)));
  const __m256 large = _mm256_div_ps(_mm256_sub_ps(one, e), _mm256_add_ps(one, e));
  return _mm256_blendv_ps(_mm256_or_ps(large, _mm256_and_ps(sign, x)), small,
                          _mm256_cmp_ps(magnitude, _mm256_set1_ps(0.625f), _CMP_LT_OQ));
}

/// silu, gelu_tanh, quick_gelu, tanh: within 1.4e-7 |x| of the exact value; gelu: 2.4e-7 |x|. NaN stays NaN
/// in all.
static inline __m256 activate_avx2(Activation kind, __m256 x) {
  switch (kind) {
    case Activation::silu:
      return times_sigmoid_avx2(x, x);
    case Activation::gelu:
      return gelu_avx2(x);
    case Activation::gelu_tanh:
      return gelu_tanh_avx2(x);
    case Activation::relu:
      return _mm256_max_ps(_mm256_setzero_ps(), x);
    case Activation::quick_gelu:
      return times_sigmoid_avx2(x, _mm256_mul_ps(x, _mm256_set1_ps(1.702f)));
    case Activation::tanh:
      return tanh_avx2(x);
    case Activation::none:
      return x;
  }
  return x;
}

}  // namespace mote::avx2
