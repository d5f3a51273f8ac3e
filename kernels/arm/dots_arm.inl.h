// SPDX-License-Identifier: Apache-2.0
//
// The integers of simd/dots.h that AArch64's and ARMv7's vectors of 128 bits have in common. Everything has
// internal linkage: see "Kernels" in docs/design.md.
#pragma once

#include "kernels/arm/floats_arm.inl.h"
#include "kernels/simd/dot_words.h"

namespace mote {
namespace {

struct DotIntsArm : DotWords<FloatsArm> {
  static constexpr uint32_t kWeightBias = 0;
  static constexpr uint32_t kRowPanels = 1, kPairRows = 1;

  static Int load(const void* bytes) { return vld1q_s32(static_cast<const int32_t*>(bytes)); }
  static void store(void* bytes, Int v) { vst1q_s32(static_cast<int32_t*>(bytes), v); }
  static Int high_nibbles(Int v) { return vreinterpretq_s32_u8(vshrq_n_u8(vreinterpretq_u8_s32(v), 4)); }
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
