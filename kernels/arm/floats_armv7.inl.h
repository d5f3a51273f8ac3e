// SPDX-License-Identifier: Apache-2.0
//
// Vectors of simd/floats.h in 128 bits: ARMv7's Advanced SIMD with VFPv4, which fuses multiply-add and
// converts halves. 16 registers. It takes subnormal floats as 0 and gives 0 instead of them, and one NaN for
// all, so results differ from those of other families where a number, or a product, is less than 2^-126.
// Division is scalar. Everything has internal linkage: see "Kernels" in docs/design.md.
#pragma once

#include "kernels/arm/floats_arm.inl.h"

namespace mote {
namespace {

struct FloatsArmv7 : FloatsArm {
  // Linear: tiles are 1 x 4 and up to 2 x 1.
  static constexpr uint32_t kRows = 2, kPanels = 1;
  static constexpr uint32_t kFewRows = 2, kFewPanels = 1;

  // Attention: 1 or 2 queries by 2 or 1 blocks of 16 positions.
  static constexpr uint32_t kQueries = 2;
  static constexpr uint32_t blocks(uint32_t queries) { return queries == 1 ? 2 : 1; }

  MOTE_OWN_REGISTERS static Float div(Float a, Float b) {
    float x[kLanes], y[kLanes];
    store(x, a);
    store(y, b);
    for (uint32_t i = 0; i < kLanes; ++i) x[i] /= y[i];
    return load(x);
  }

  /// Conversions round towards 0; to add 1.5 2^23 rounds to nearest even, up to 2^22. The last 9 bits of a
  /// NaN's, and of an infinity's, are 0.
  static Int to_int(Float x) {
    const Float whole = set(0x1.8p23f);
    return vsubq_s32(vreinterpretq_s32_f32(vaddq_f32(x, whole)), vreinterpretq_s32_f32(whole));
  }

  static float max_lanes(Float x) {
    const float32x2_t two = vpmax_f32(vget_low_f32(x), vget_high_f32(x));
    return vget_lane_f32(vpmax_f32(two, two), 0);
  }
  /// (0 + 1) + (2 + 3).
  static float sum(Total sums) {
    const float32x2_t two = vpadd_f32(vget_low_f32(sums), vget_high_f32(sums));
    return vget_lane_f32(vpadd_f32(two, two), 0);
  }
};

}  // namespace
}  // namespace mote
