// SPDX-License-Identifier: Apache-2.0
#include "kernels/x86/linear_integer_avx2.inl.h"

namespace mote::avx2 {
namespace {

/// kLowest: activations may be -128.
template <bool kLowest>
struct Format {
  using Supercell = SupercellQ8;
  static constexpr DType kDType = DType::q8g32;
  static constexpr uint32_t kRows =
      kLowest ? 1 : 4;  // 8 sums, 4 vectors of weights, the ones, a word, products
  static constexpr size_t kAsks = 8;
  static constexpr bool kMinimum = false;
  template <uint32_t R, uint32_t P, class Ahead>
  static void dot(const Supercell* const cell[P], size_t g, const int8_t* const a[R], const int32_t* const*,
                  Ahead& ahead, __m256i out[P][R][kHalves]) {
    MOTE_UNROLL for (uint32_t p = 0; p < P; ++p) {
      MOTE_UNROLL for (uint32_t r = 0; r < R; ++r) out[p][r][0] = out[p][r][1] = _mm256_setzero_si256();
    }
    MOTE_UNROLL for (uint32_t j = 0; j < 8; ++j) {
      const int8_t* quads[R];
      MOTE_UNROLL for (uint32_t p = 0; p < P; ++p) ahead.prefetch();
      MOTE_UNROLL for (uint32_t r = 0; r < R; ++r) quads[r] = a[r] + 4 * j;
      MOTE_UNROLL for (uint32_t p = 0; p < P; ++p) {
        if constexpr (kLowest) {
          add_widened_quad<R>(cell[p]->q[g][j], quads, out[p]);
        } else {
          add_quad<R>(cell[p]->q[g][j], quads, out[p]);
        }
      }
    }
  }
};

}  // namespace

void linear_q8g32_q8g32(const LinearArgs& args, Range panels, void*) {
  if (has_lowest(args)) {
    integer_linear<Format<true>>(args, panels);
  } else {
    integer_linear<Format<false>>(args, panels);
  }
}

}  // namespace mote::avx2
