// SPDX-License-Identifier: Apache-2.0
//
// What the AVX2 kernels of Linear share: the walk over tiles and the epilogue.
#pragma once

#include <immintrin.h>
#include <string.h>

#include "kernels/x86/linear_operands.inl.h"
#include "kernels/x86/math_avx2.inl.h"

namespace mote::avx2 {

/// Two vectors hold a panel: outputs 0..7 and 8..15.
static constexpr uint32_t kHalves = 2;

/// Bias, activation and residual of one row of one panel, then the store. Columns past N are not touched.
__attribute__((noinline)) static void linear_finish(const LinearArgs& args, uint32_t row, uint32_t panel,
                                                    __m256 low, __m256 high) {
  const __m256 halves[kHalves] = {low, high};
  for (uint32_t h = 0; h < kHalves; ++h) {
    const uint32_t column = panel * kPanelRows + h * kLanes;
    const uint32_t left = args.outputs > column ? args.outputs - column : 0;
    __m256 y = halves[h];
    if (args.bias != nullptr) y = _mm256_add_ps(y, _mm256_loadu_ps(args.bias + column));
    if (args.activation != Activation::none) y = activate_avx2(args.activation, y);
    if (args.residual.data != nullptr) y = _mm256_add_ps(y, load_first(args.residual[row] + column, left));
    store_first(args.out[row] + column, left, y);
  }
}

/// The same, inline where at most a residual is to be added: up to a tenth of an integer kernel's time. (The
/// float kernel loses a tenth: its sums have to leave their registers.)
MOTE_INLINE static inline void linear_finish_soon(const LinearArgs& args, uint32_t row, uint32_t panel,
                                                  __m256 low, __m256 high) {
  const size_t column = size_t{panel} * kPanelRows;
  if (args.bias != nullptr || args.activation != Activation::none || column + kPanelRows > args.outputs) {
    return linear_finish(args, row, panel, low, high);
  }
  if (args.residual.data != nullptr) {
    low = _mm256_add_ps(low, _mm256_loadu_ps(args.residual[row] + column));
    high = _mm256_add_ps(high, _mm256_loadu_ps(args.residual[row] + column + kLanes));
  }
  _mm256_storeu_ps(args.out[row] + column, low);
  _mm256_storeu_ps(args.out[row] + column + kLanes, high);
}

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

/// All rows from `row` on: tiles of R rows while they last, then one of the rest. Tile::run<R>(args, panel,
/// row).
template <class Tile, uint32_t R>
static inline void linear_tile_rows(const LinearArgs& args, uint32_t panel, uint32_t row) {
  for (; row + R <= args.rows; row += R) Tile::template run<R>(args, panel, row);
  if constexpr (R > 1) linear_tile_rows<Tile, R - 1>(args, panel, row);
}

}  // namespace mote::avx2
