// SPDX-License-Identifier: Apache-2.0
//
// What the AVX2 kernels of Linear share: products of signed bytes.
#pragma once

#include <immintrin.h>
#include <string.h>

#include "kernels/x86/floats_256.inl.h"
#include "kernels/simd/linear_finish.inl.h"
#include "kernels/x86/math_avx2.inl.h"

namespace mote::avx2 {

/// Two vectors hold a panel: outputs 0..7 and 8..15.
static constexpr uint32_t kHalves = 2;

/// WeightsAhead asks for bytes and nibbles to L1 from here on.
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
/// the unsigned operand of maddubs and a with the sign of w the signed one: pairs are at most 2 * 128 * 127 =
/// 32512, inside int16 for a weight of -128 too. Two pairs are not, so each vector is widened to int32.
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

}  // namespace mote::avx2
