// SPDX-License-Identifier: Apache-2.0
//
// Words of simd/int8_floats.inl.h in 128 bits: bytes are widened to int16 by their products. Everything has
// internal linkage: see "Kernels" in docs/design.md.
#pragma once

#include "kernels/arm/int8_lanes_arm.inl.h"
#include "kernels/arm/rows_neon.inl.h"

namespace mote {
namespace {

struct WordsNeon : WordProducts<WordsNeon> {
  /// Returns the products of two words: pairs of the sums of two products, which int16 may not hold.
  static int32x4_t products(int8x8_t x, int8x8_t y) {
    return vpadalq_s16(vpaddlq_s16(vmull_s8(x, y)), vshll_n_s8(y, 7));
  }
  static Int joined(int32x4_t low, int32x4_t high) { return vpaddq_s32(low, high); }
  static int16x8_t pairs(int16x8_t low, int16x8_t high) { return vpaddq_s16(low, high); }
};

}  // namespace
}  // namespace mote
