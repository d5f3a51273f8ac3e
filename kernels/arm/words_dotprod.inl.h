// SPDX-License-Identifier: Apache-2.0
//
// What attention over a cache of i8 takes (simd/int8_floats.inl.h), by sdot: both sides are signed. So keys
// lose the 128 that the cache adds to them, their dot products start at 0, and weights have 127 levels.
// Everything has internal linkage: see "Kernels" in docs/design.md.
#pragma once

#include "kernels/arm/words_neon.inl.h"

namespace mote {
namespace {

struct WordsDotprod : WordsNeon {
  static Int dot(Int sum, Int one, Int other) {
    return vdotq_s32(sum, vreinterpretq_s8_s32(one), vreinterpretq_s8_s32(other));
  }
};

struct Int8Dotprod : Int8Floats<RowsNeon, WordsDotprod> {
  static constexpr float kMostWeight = 127.0f;

  using Base = Int8Floats<RowsNeon, WordsDotprod>;
  using Base::load;
  static Int load(const KvQuad* keys) {
    return vreinterpretq_s32_u8(veorq_u8(vld1q_u8(keys->bytes), vdupq_n_u8(0x80)));
  }
  static Int dot_start(const KvQuad*, uint32_t) { return zero_dot(); }
};

}  // namespace
}  // namespace mote
