// SPDX-License-Identifier: Apache-2.0
//
// The functions that AArch64's and ARMv7's words of simd/int8_floats.inl.h have in common, in 128 bits.
// Everything has internal linkage: see "Kernels" in docs/design.md.
#pragma once

#include "kernels/arm/floats_arm.inl.h"
#include "kernels/simd/int8_floats.inl.h"

namespace mote {
namespace {

struct WordsArm {
  using Int = int32x4_t;
  static constexpr uint32_t kLanes = FloatsArm::kLanes;
  static constexpr float kMostWeight = 255.0f;
  static Int set(int32_t word) { return vdupq_n_s32(word); }
  static Int load(const KvQuad* from) { return vreinterpretq_s32_u8(vld1q_u8(from->bytes)); }
  static Int load_first(const KvQuad* from, uint32_t count) {
    if (count >= kLanes) return load(from);
    KvQuad first[kLanes] = {};
    for (uint32_t i = 0; i < count; ++i) first[i] = from[i];
    return load(first);
  }
  static float32x4_t joint(float32x4_t magnitudes) { return magnitudes; }
  /// A vector's are one quad.
  static void store_quads(KvQuad* to, Int n, uint32_t) {
    const int8x8_t bytes = vmovn_s16(vcombine_s16(vmovn_s32(n), vdup_n_s16(0)));
    const int32_t quad = vget_lane_s32(vreinterpret_s32_s8(bytes), 0);
    memcpy(to, &quad, sizeof quad);
  }
  /// u8 - 128.
  static Int signed_bytes(Int u8) { return veorq_s32(u8, vdupq_n_s32(static_cast<int32_t>(0x80808080u))); }
};

/// Dot products of words, whose bytes are widened to int16 by their products, of a family Own:
///   products(x, y)   of the bytes of two words, in sums that int16 may not hold
///   joined(a, b)     the sums of the words of a, then of b
///   pairs(a, b)      sums of neighbouring products of a, then of b
template <class Own>
struct WordProducts : WordsArm {
  /// u8 s8 = (u8 - 128) s8 + 128 s8, each product in int16.
  static Int dot(Int sum, Int u8, Int s8) {
    const int8x16_t x = vreinterpretq_s8_s32(signed_bytes(u8)), y = vreinterpretq_s8_s32(s8);
    const auto low = Own::products(vget_low_s8(x), vget_low_s8(y));
    return vaddq_s32(sum, Own::joined(low, Own::products(vget_high_s8(x), vget_high_s8(y))));
  }
  /// As SignedKeys multiplies.
  static Int dot_of_signed(Int sum, Int one, Int other) {
    const int8x16_t x = vreinterpretq_s8_s32(one), y = vreinterpretq_s8_s32(other);
    const int16x8_t low = vmull_s8(vget_low_s8(x), vget_low_s8(y));
    return vpadalq_s16(sum, Own::pairs(low, vmull_s8(vget_high_s8(x), vget_high_s8(y))));
  }
};

/// Keys lose the 128 that the cache adds to them, and dot products with queries start at 0: products of bytes
/// from -128 by others from -127 to 127, of which int16 holds two. Words::dot_of_signed adds them.
template <class Rows, class Words>
struct SignedKeys : Int8Floats<Rows, Words> {
  using Base = Int8Floats<Rows, Words>;
  using Base::fma;
  using Base::load;
  static constexpr float kMostWeight = Words::kMostWeight;

  struct Keys {
    int32x4_t bytes;
  };
  static Keys load(const KvQuad* keys) { return {Words::signed_bytes(Base::load_values(keys))}; }
  static int32x4_t fma(int32x4_t query, Keys keys, int32x4_t dot) {
    return Words::dot_of_signed(dot, query, keys.bytes);
  }
  static int32x4_t dot_start(const KvQuad*, uint32_t) { return Base::zero_dot(); }
};

}  // namespace
}  // namespace mote
