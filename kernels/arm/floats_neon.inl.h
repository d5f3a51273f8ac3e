// SPDX-License-Identifier: Apache-2.0
//
// Vectors of simd/floats.h in 128 bits: AArch64's Advanced SIMD, which fuses multiply-add and converts
// halves. 32 registers. Everything has internal linkage: see "Kernels" in docs/design.md.
#pragma once

#include "kernels/arm/floats_arm.inl.h"

namespace mote {
namespace {

struct FloatsNeon : FloatsArm {
  // Linear: tiles are 1 x 4, 2 x 2 and up to 6 x 1: 24 sums, 4 vectors of weights, an input.
  static constexpr uint32_t kRows = 6, kPanels = 1;
  static constexpr uint32_t kFewRows = 2, kFewPanels = 2;

  // Attention: 1 to 4 queries by 2 or 1 blocks of 16 positions, 8 to 16 sums.
  static constexpr uint32_t kQueries = 4;
  static constexpr uint32_t blocks(uint32_t queries) { return queries <= 2 ? 2 : 1; }

  static Float div(Float a, Float b) { return vdivq_f32(a, b); }
  static Int to_int(Float x) { return vcvtnq_s32_f32(x); }
  static float max_lanes(Float x) { return vmaxvq_f32(x); }
  /// (0 + 1) + (2 + 3).
  static float sum(Total sums) { return vaddvq_f32(sums); }
};

}  // namespace
}  // namespace mote
