// SPDX-License-Identifier: Apache-2.0
//
// Words of simd/int8_floats.inl.h in ARMv7's vectors of 128 bits: bytes are widened to int16 by their
// products. Everything has internal linkage: see "Kernels" in docs/design.md.
#pragma once

#include "kernels/arm/rows_armv7.inl.h"
#include "kernels/simd/int8_floats.inl.h"

namespace mote {
namespace {

struct WordsArmv7 {
  using Int = int32x4_t;
  static Int set(int32_t word) { return vdupq_n_s32(word); }
  static Int load(const KvQuad* from) { return vreinterpretq_s32_u8(vld1q_u8(from->bytes)); }
  static Int load_first(const KvQuad* from, uint32_t count) {
    if (count >= RowsArmv7::kLanes) return load(from);
    KvQuad first[RowsArmv7::kLanes] = {};
    for (uint32_t i = 0; i < count; ++i) first[i] = from[i];
    return load(first);
  }
  /// u8 s8 = (u8 - 128) s8 + 128 s8, each product in int16.
  static Int dot(Int sum, Int u8, Int s8) {
    const int8x16_t x = vreinterpretq_s8_s32(veorq_s32(u8, vdupq_n_s32(static_cast<int32_t>(0x80808080u))));
    const int8x16_t y = vreinterpretq_s8_s32(s8);
    const int32x2_t low = products(vget_low_s8(x), vget_low_s8(y));
    return vaddq_s32(sum, vcombine_s32(low, products(vget_high_s8(x), vget_high_s8(y))));
  }
  static float32x4_t joint(float32x4_t magnitudes) { return magnitudes; }
  /// A vector's are one quad.
  static void store_quads(KvQuad* to, Int n, uint32_t) {
    const int8x8_t bytes = vmovn_s16(vcombine_s16(vmovn_s32(n), vdup_n_s16(0)));
    const int32_t quad = vget_lane_s32(vreinterpret_s32_s8(bytes), 0);
    memcpy(to, &quad, sizeof quad);
  }

 private:
  /// Of two words; int16 does not hold both parts of a product.
  static int32x2_t products(int8x8_t x, int8x8_t y) {
    const int32x4_t pairs = vpadalq_s16(vpaddlq_s16(vmull_s8(x, y)), vshll_n_s8(y, 7));
    return vpadd_s32(vget_low_s32(pairs), vget_high_s32(pairs));
  }
};

}  // namespace
}  // namespace mote
