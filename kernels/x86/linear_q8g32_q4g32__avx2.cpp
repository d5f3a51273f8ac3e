// SPDX-License-Identifier: Apache-2.0
#include "kernels/x86/linear_integer_avx2.inl.h"

namespace mote::avx2 {
namespace {

struct Format {
  using Supercell = SupercellQ4;
  static constexpr DType kDType = DType::q4g32;
  static constexpr int kOffsetShift = 3;
  static constexpr size_t kAsks = 4;
  static constexpr bool kMinimum = false;
  template <uint32_t R, uint32_t P, class Ahead>
  static void dot(const Supercell* const cell[P], size_t g, const int8_t* const a[R], Ahead& ahead,
                  __m256i out[P][R][kHalves]) {
    nibble_dot<Format, R, P>(cell, g, a, ahead, out);
  }
};

}  // namespace

void linear_q8g32_q4g32(const LinearArgs& args, Range panels, void*) { integer_linear<Format>(args, panels); }

}  // namespace mote::avx2
