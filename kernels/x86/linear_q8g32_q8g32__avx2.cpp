// SPDX-License-Identifier: Apache-2.0
#include "kernels/x86/linear_integer_avx2.inl.h"

namespace mote::avx2 {
namespace {

/// |w| is the unsigned operand of maddubs and a with the sign of w the signed one: pairs are at most 2 * 128
/// * 127 = 32512, inside int16 for a weight of -128 too. Two pairs are not, so each vector is widened to
/// int32.
struct Format {
  using Supercell = SupercellQ8;
  static constexpr DType kDType = DType::q8g32;
  static constexpr int32_t kOffset = 0;
  static constexpr bool kMinimum = false;
  template <uint32_t R>
  static void dot(const Supercell& cell, size_t g, const int8_t* const a[R], __m256i out[R][kHalves]) {
    const __m256i ones = _mm256_set1_epi16(1);
#pragma GCC unroll 8
    for (uint32_t j = 0; j < 8; ++j) {
      __m256i w[kHalves], magnitude[kHalves];
#pragma GCC unroll 2
      for (uint32_t h = 0; h < kHalves; ++h) {
        w[h] = load_bytes(cell.q[g][j][8 * h]);
        magnitude[h] = _mm256_abs_epi8(w[h]);
      }
#pragma GCC unroll 4
      for (uint32_t r = 0; r < R; ++r) {
        const __m256i word = broadcast_word(a[r] + 4 * j);
#pragma GCC unroll 2
        for (uint32_t h = 0; h < kHalves; ++h) {
          const __m256i pairs = _mm256_maddubs_epi16(magnitude[h], _mm256_sign_epi8(word, w[h]));
          const __m256i sums = _mm256_madd_epi16(pairs, ones);
          out[r][h] = j == 0 ? sums : _mm256_add_epi32(out[r][h], sums);
        }
      }
    }
  }
};

}  // namespace

void linear_q8g32_q8g32(const LinearArgs& args, Range panels, void*) { integer_linear<Format>(args, panels); }

}  // namespace mote::avx2
