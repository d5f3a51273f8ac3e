// SPDX-License-Identifier: Apache-2.0
//
// Dot products of simd/dots.h in AArch64's vectors of 128 bits, for linear_decoded.inl.h: by smull, whose
// sums of two products fit int16 because weights are below 64 in magnitude, or by sdot. Everything has
// internal linkage: see "Kernels" in docs/design.md.
#pragma once

#include "kernels/arm/dots_arm.inl.h"
#include "kernels/arm/floats_neon.inl.h"
#include "kernels/simd/linear_finish.inl.h"

namespace mote {
namespace {

struct DotsNeon : DotIntsArm, DotFloats<FloatsNeon> {
  static constexpr uint32_t kSingleRows = 4;

  using DotFloats::set;
  using DotIntsArm::set;
  static Int dot(Int sum, Int w, Int a) {
    const int8x16_t x = vreinterpretq_s8_s32(w), y = vreinterpretq_s8_s32(a);
    const int16x8_t low = vmull_s8(vget_low_s8(x), vget_low_s8(y)), high = vmull_high_s8(x, y);
    return vpadalq_s16(sum, vpaddq_s16(low, high));
  }

  static Float load_f32(const float* from) { return vld1q_f32(from); }
  static void store_f32(float* to, Float v) { vst1q_f32(to, v); }
  static Float load_f16(const uint16_t* from) { return FloatsNeon::load(from); }
  static Float convert(Int v) { return vcvtq_f32_s32(v); }
  static Float fma(Float a, Float b, Float c) { return vfmaq_f32(c, a, b); }
};

#ifdef __ARM_FEATURE_DOTPROD
struct DotsSdot : DotsNeon {
  static Int dot(Int sum, Int w, Int a) {
    return vdotq_s32(sum, vreinterpretq_s8_s32(w), vreinterpretq_s8_s32(a));
  }
};
#endif

}  // namespace
}  // namespace mote
