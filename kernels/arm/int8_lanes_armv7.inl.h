// SPDX-License-Identifier: Apache-2.0
//
// Words of simd/int8_floats.inl.h in ARMv7's vectors of 128 bits: bytes are widened to int16 by their
// products. Everything has internal linkage: see "Kernels" in docs/design.md.
#pragma once

#include "kernels/arm/int8_lanes_arm.inl.h"
#include "kernels/arm/rows_armv7.inl.h"

namespace mote {
namespace {

struct WordsArmv7 : WordProducts<WordsArmv7> {
  /// Returns the dot products of two words; int16 does not hold both parts of a product.
  static int32x2_t products(int8x8_t x, int8x8_t y) {
    const int32x4_t sums = vpadalq_s16(vpaddlq_s16(vmull_s8(x, y)), vshll_n_s8(y, 7));
    return vpadd_s32(vget_low_s32(sums), vget_high_s32(sums));
  }
  static Int joined(int32x2_t low, int32x2_t high) { return vcombine_s32(low, high); }
  static int16x8_t pairs(int16x8_t low, int16x8_t high) {
    return vcombine_s16(vpadd_s16(vget_low_s16(low), vget_high_s16(low)),
                        vpadd_s16(vget_low_s16(high), vget_high_s16(high)));
  }
};

}  // namespace
}  // namespace mote
