// SPDX-License-Identifier: Apache-2.0
//
// Words of simd/int8_floats.inl.h by sdot: both sides are signed, so weights have 127 levels. Everything has
// internal linkage: see "Kernels" in docs/design.md.
#pragma once

#include "kernels/arm/int8_lanes_neon.inl.h"

namespace mote {
namespace {

struct WordsDotprod : WordsNeon {
  static constexpr float kMostWeight = 127.0f;
  static Int dot(Int sum, Int one, Int other) {
    return vdotq_s32(sum, vreinterpretq_s8_s32(one), vreinterpretq_s8_s32(other));
  }
  static Int dot_of_signed(Int sum, Int one, Int other) { return dot(sum, one, other); }
};

}  // namespace
}  // namespace mote
