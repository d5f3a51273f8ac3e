// SPDX-License-Identifier: Apache-2.0
//
// Words of simd/int8_floats.inl.h in 128 bits: bytes are widened to int16 by their products. Everything has
// internal linkage: see "Kernels" in docs/design.md.
#pragma once

#include "kernels/arm/rows_neon.inl.h"
#include "kernels/arm/words_arm.inl.h"

namespace mote {
namespace {

struct WordsNeon : WordsArm {
  /// u8 s8 = (u8 - 128) s8 + 128 s8, each product in int16.
  static Int dot(Int sum, Int u8, Int s8) {
    const int8x16_t x = vreinterpretq_s8_s32(signed_bytes(u8));
    const int8x16_t y = vreinterpretq_s8_s32(s8);
    const int32x4_t low = products(vget_low_s8(x), vget_low_s8(y));
    return vaddq_s32(sum, vpaddq_s32(low, products(vget_high_s8(x), vget_high_s8(y))));
  }
  /// As SignedKeys multiplies.
  static Int dot_of_signed(Int sum, Int one, Int other) {
    const int8x16_t x = vreinterpretq_s8_s32(one), y = vreinterpretq_s8_s32(other);
    return vpadalq_s16(sum, vpaddq_s16(vmull_s8(vget_low_s8(x), vget_low_s8(y)), vmull_high_s8(x, y)));
  }

 private:
  /// Of two words: pairs of the sums of two products, which int16 may not hold.
  static int32x4_t products(int8x8_t x, int8x8_t y) {
    return vpadalq_s16(vpaddlq_s16(vmull_s8(x, y)), vshll_n_s8(y, 7));
  }
};

}  // namespace
}  // namespace mote
