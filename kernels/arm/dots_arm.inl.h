// SPDX-License-Identifier: Apache-2.0
//
// What the integers of simd/dots.h have in common in AArch64's and ARMv7's vectors of 128 bits. Everything
// has internal linkage: see "Kernels" in docs/design.md.
#pragma once

#include "kernels/arm/floats_arm.inl.h"

namespace mote {
namespace {

struct DotIntsArm {
  using Int = int32x4_t;  // 16 bytes or 4 int32
  static constexpr uint32_t kVectors = 4;
  static constexpr uint32_t kWeightBias = 0;
  static constexpr uint32_t kRowPanels = 1, kPairRows = 1;
  static constexpr bool kUnpacks = false;
  static constexpr bool kUnrolls = true;
  static constexpr bool kUnrollsQuads = true;

  static Int load(const void* bytes) { return vld1q_s32(static_cast<const int32_t*>(bytes)); }
  static void store(void* bytes, Int v) { vst1q_s32(static_cast<int32_t*>(bytes), v); }
  static Int zero() { return vdupq_n_s32(0); }
  static Int set(int32_t value) { return vdupq_n_s32(value); }
  static Int broadcast_word(const char* bytes) {
    int32_t word;
    memcpy(&word, bytes, 4);
    return vdupq_n_s32(word);
  }

  static Int low_nibbles(Int v) { return vandq_s32(v, vdupq_n_s32(0x0F0F0F0F)); }
  static Int high_nibbles(Int v) { return vreinterpretq_s32_u8(vshrq_n_u8(vreinterpretq_u8_s32(v), 4)); }
  /// v << by, or v >> -by, & mask.
  template <int by, uint32_t mask>
  static Int shifted(Int v) {
    Int to = v;
    if constexpr (by > 0) to = vshlq_n_s32(v, by);
    if constexpr (by < 0) to = vreinterpretq_s32_u32(vshrq_n_u32(vreinterpretq_u32_s32(v), -by));
    return vandq_s32(to, vdupq_n_s32(static_cast<int32_t>(mask)));
  }
  template <uint32_t i>
  static Int signed_byte(Int v) {
    if constexpr (i == 3) {
      return vshrq_n_s32(v, 24);
    } else {
      return vshrq_n_s32(vshlq_n_s32(v, 24 - 8 * i), 24);
    }
  }
  static Int either(Int a, Int b) { return vorrq_s32(a, b); }
  static Int plus(Int a, Int b) { return vaddq_s32(a, b); }
  static Int times(Int a, Int b) { return vmulq_s32(a, b); }
  static Int minus_32(Int v) {
    return vreinterpretq_s32_s8(vsubq_s8(vreinterpretq_s8_s32(v), vdupq_n_s8(32)));
  }
  static void pin(Int&) {}
  template <uint32_t factor>
  static Int minus_times(Int v) {
    return vmulq_n_s32(v, -static_cast<int32_t>(factor));
  }
};

}  // namespace
}  // namespace mote
