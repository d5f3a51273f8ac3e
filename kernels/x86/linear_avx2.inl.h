// SPDX-License-Identifier: Apache-2.0
//
// The functions that the AVX2 kernels of Linear share: products of signed bytes. Quantized activations are
// -127 to 127 and are multiplied by maddubs. A row that nothing quantized may hold -128, and is multiplied by
// madd.
#pragma once

#include <immintrin.h>
#include <string.h>

#include "kernels/x86/floats_256.inl.h"
#include "kernels/x86/linear_finish.inl.h"
#include "kernels/x86/math_avx2.inl.h"

namespace mote::avx2 {

/// Two vectors hold a panel: outputs 0..7 and 8..15.
static constexpr uint32_t kHalves = 2;

/// WeightsAhead prefetches bytes and nibbles to L1 from here on.
static constexpr uint32_t kL1Rows = 4;

/// The 4 activations at q in every lane.
static inline __m256i broadcast_word(const int8_t* q) {
  int32_t word;
  memcpy(&word, q, 4);
  return _mm256_set1_epi32(word);
}

static inline __m256i load_bytes(const void* bytes) {
  return _mm256_loadu_si256(static_cast<const __m256i*>(bytes));
}

/// dot[r][h] += the products of 4 columns: int8 weights of 16 outputs, a[r] the activations of row r. |w| is
/// the unsigned operand of maddubs, and a with the sign of w the signed one. A sum of two products is at most
/// 2 * 128 * 127 = 32512 and fits int16, for a weight of -128 as well. A sum of four does not fit, so each
/// vector is widened to int32.
template <uint32_t R>
MOTE_INLINE static inline void add_quad(const int8_t w[16][4], const int8_t* const a[R],
                                        __m256i dot[R][kHalves]) {
  const __m256i ones = _mm256_set1_epi16(1);
  __m256i signs[kHalves], magnitude[kHalves];
  MOTE_UNROLL for (uint32_t h = 0; h < kHalves; ++h) {
    signs[h] = load_bytes(w[8 * h]);
    magnitude[h] = _mm256_abs_epi8(signs[h]);
  }
  MOTE_UNROLL for (uint32_t r = 0; r < R; ++r) {
    const __m256i word = broadcast_word(a[r]);
    MOTE_UNROLL for (uint32_t h = 0; h < kHalves; ++h) {
      const __m256i pairs = _mm256_maddubs_epi16(magnitude[h], _mm256_sign_epi8(word, signs[h]));
      dot[r][h] = _mm256_add_epi32(dot[r][h], _mm256_madd_epi16(pairs, ones));
      MOTE_PIN(dot[r][h]);
    }
  }
}

/// Adds the products of 4 columns for activations of -128, which have no opposite: in int16.
template <uint32_t R>
static inline void add_widened_quad(const int8_t w[16][4], const int8_t* const a[R],
                                    __m256i dot[R][kHalves]) {
  for (uint32_t h = 0; h < kHalves; ++h) {
    const __m256i bytes = load_bytes(w[8 * h]);
    const __m256i low = _mm256_cvtepi8_epi16(_mm256_castsi256_si128(bytes));
    const __m256i high = _mm256_cvtepi8_epi16(_mm256_extracti128_si256(bytes, 1));
    for (uint32_t r = 0; r < R; ++r) {
      const __m256i word = _mm256_cvtepi8_epi16(_mm256_castsi256_si128(broadcast_word(a[r])));
      // Outputs 0 1 4 5 | 2 3 6 7.
      const __m256i sums = _mm256_hadd_epi32(_mm256_madd_epi16(low, word), _mm256_madd_epi16(high, word));
      dot[r][h] = _mm256_add_epi32(dot[r][h], _mm256_permute4x64_epi64(sums, _MM_SHUFFLE(3, 1, 2, 0)));
    }
  }
}

/// Says whether any byte of `least`, the minima of each lane, is -128.
static inline bool has_lowest(__m256i least) {
  return _mm256_movemask_epi8(_mm256_cmpeq_epi8(least, _mm256_set1_epi8(-128))) != 0;
}

/// Says whether any activation is -128.
static inline bool has_lowest(const LinearArgs& args) {
  const size_t columns = activation_padded(args.inputs);
  __m256i even = _mm256_setzero_si256(), odd = even;
  for (uint32_t row = 0; row < args.rows; ++row) {
    const char* q = linear_row(args, row);
    for (const char* end = q + columns; q != end; q += 64) {
      even = _mm256_min_epi8(even, load_bytes(q));
      odd = _mm256_min_epi8(odd, load_bytes(q + 32));
    }
  }
  return has_lowest(_mm256_min_epi8(even, odd));
}

}  // namespace mote::avx2
