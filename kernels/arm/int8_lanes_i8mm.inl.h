// SPDX-License-Identifier: Apache-2.0
//
// Words of simd/int8_floats.inl.h by usdot. Everything has internal linkage: see "Kernels" in docs/design.md.
#pragma once

#include "kernels/arm/int8_lanes_neon.inl.h"

namespace mote {
namespace {

struct WordsI8mm : WordsNeon {
  static Int dot(Int sum, Int u8, Int s8) {
    return vusdotq_s32(sum, vreinterpretq_u8_s32(u8), vreinterpretq_s8_s32(s8));
  }
};

}  // namespace
}  // namespace mote
