// SPDX-License-Identifier: Apache-2.0
//
// Words of simd/int8_floats.inl.h in ARMv7's vectors of 128 bits: bytes are widened to int16 by their
// products. Everything has internal linkage: see "Kernels" in docs/design.md.
#pragma once

#include "kernels/arm/rows_armv7.inl.h"
#include "kernels/arm/words_arm.inl.h"

namespace mote {
namespace {

struct WordsArmv7 : WordsArm {
  /// u8 s8 = (u8 - 128) s8 + 128 s8, each product in int16.
  static Int dot(Int sum, Int u8, Int s8) {
    const int8x16_t x = vreinterpretq_s8_s32(signed_bytes(u8));
    const int8x16_t y = vreinterpretq_s8_s32(s8);
    const int32x2_t low = products(vget_low_s8(x), vget_low_s8(y));
    return vaddq_s32(sum, vcombine_s32(low, products(vget_high_s8(x), vget_high_s8(y))));
  }
  /// As SignedKeys multiplies.
  static Int dot_of_signed(Int sum, Int one, Int other) {
    const int8x16_t x = vreinterpretq_s8_s32(one), y = vreinterpretq_s8_s32(other);
    const int16x4_t low = pairs(vmull_s8(vget_low_s8(x), vget_low_s8(y)));
    return vpadalq_s16(sum, vcombine_s16(low, pairs(vmull_s8(vget_high_s8(x), vget_high_s8(y)))));
  }

 private:
  static int16x4_t pairs(int16x8_t products) {
    return vpadd_s16(vget_low_s16(products), vget_high_s16(products));
  }
  /// Of two words; int16 does not hold both parts of a product.
  static int32x2_t products(int8x8_t x, int8x8_t y) {
    const int32x4_t pairs = vpadalq_s16(vpaddlq_s16(vmull_s8(x, y)), vshll_n_s8(y, 7));
    return vpadd_s32(vget_low_s32(pairs), vget_high_s32(pairs));
  }
};

}  // namespace
}  // namespace mote
