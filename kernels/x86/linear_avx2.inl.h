// SPDX-License-Identifier: Apache-2.0
//
// What the AVX2 kernels of Linear share: products of signed bytes and the epilogue.
#pragma once

#include <immintrin.h>
#include <string.h>

#include "kernels/x86/linear_operands.inl.h"
#include "kernels/x86/math_avx2.inl.h"

namespace mote::avx2 {

/// Two vectors hold a panel: outputs 0..7 and 8..15.
static constexpr uint32_t kHalves = 2;

/// Bias, activation and residual of one panel of `rows` rows from `row` on, then the store. Columns past N
/// are not touched.
template <Activation kActivation>
static void finish_rows(const LinearArgs& args, uint32_t row, uint32_t rows, uint32_t panel,
                        const float* sums) {
  const uint32_t column = panel * kPanelRows, left = args.outputs - column;
  __m256 bias[kHalves] = {_mm256_set1_ps(-0.0f), _mm256_set1_ps(-0.0f)};  // x + -0 is x, of -0 too
  if (args.bias != nullptr) {
    for (uint32_t h = 0; h < kHalves; ++h) bias[h] = _mm256_loadu_ps(args.bias + column + h * kLanes);
  }
  for (const float* sum = sums; sum != sums + rows * kPanelRows; sum += kPanelRows, ++row) {
    float* out = args.out[row] + column;
    const float* residual = args.residual.data == nullptr ? nullptr : args.residual[row] + column;
    MOTE_UNROLL for (uint32_t h = 0; h < kHalves; ++h) {
      const uint32_t at = h * kLanes, lanes = left > at ? left - at : 0;
      __m256 y = activate_avx2(kActivation, _mm256_add_ps(_mm256_load_ps(sum + at), bias[h]));
      if (residual != nullptr) y = _mm256_add_ps(y, load_first(residual + at, lanes));
      store_first(out + at, lanes, y);
    }
  }
}

/// What ends a tile: one call for all of its rows. Inline it would take registers from the sums, and a row
/// alone waits for its activation: a call for each made layers of K = 384 in q8c a fifth slower.
__attribute__((noinline)) static void linear_finish(const LinearArgs& args, uint32_t row, uint32_t rows,
                                                    uint32_t panel, const float* sums) {
  switch (args.activation) {
    case Activation::none:
      return finish_rows<Activation::none>(args, row, rows, panel, sums);
    case Activation::silu:
      return finish_rows<Activation::silu>(args, row, rows, panel, sums);
    case Activation::gelu:
      return finish_rows<Activation::gelu>(args, row, rows, panel, sums);
    case Activation::gelu_tanh:
      return finish_rows<Activation::gelu_tanh>(args, row, rows, panel, sums);
    case Activation::relu:
      return finish_rows<Activation::relu>(args, row, rows, panel, sums);
    case Activation::quick_gelu:
      return finish_rows<Activation::quick_gelu>(args, row, rows, panel, sums);
    case Activation::tanh:
      return finish_rows<Activation::tanh>(args, row, rows, panel, sums);
  }
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

}  // namespace mote::avx2
