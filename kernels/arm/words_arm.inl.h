// SPDX-License-Identifier: Apache-2.0
//
// What AArch64's and ARMv7's words of simd/int8_floats.inl.h have in common, in 128 bits. Everything has
// internal linkage: see "Kernels" in docs/design.md.
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
