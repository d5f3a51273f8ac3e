// SPDX-License-Identifier: Apache-2.0
//
// The vectors of simd/kv_store_bf16.inl.h with FEAT_BF16, whose conversion keeps subnormals: they become 0
// before. Everything has internal linkage: see "Kernels" in docs/design.md.
#pragma once

#include "kernels/arm/bf16_i8mm.inl.h"
#include "kernels/arm/rows_neon.inl.h"

namespace mote {
namespace {

struct Bf16PairsArm {
  using Pairs = uint32x4_t;
  static constexpr uint32_t kPairs = 4;

  static Pairs to_pairs(const float* from) { return pairs_of(vld1q_f32(from), vld1q_f32(from + 4)); }
  static Pairs to_pairs(const float* from, uint32_t count) {
    const float32x4_t first = FloatsNeon::load_first(from, count);
    return pairs_of(first, count > 4 ? FloatsNeon::load_first(from + 4, count - 4) : vdupq_n_f32(0.0f));
  }
  static void transpose(Pairs (&x)[kPairs]) {
    float32x4_t words[kPairs];
    MOTE_UNROLL for (uint32_t i = 0; i < kPairs; ++i) words[i] = vreinterpretq_f32_u32(x[i]);
    RowsNeon::transpose(words);
    MOTE_UNROLL for (uint32_t i = 0; i < kPairs; ++i) x[i] = vreinterpretq_u32_f32(words[i]);
  }
  static void store(Bf16Pair* to, Pairs x) { Bf16FloatsArm::store_pairs(to, x); }
  static void store_columns(Bf16Pair* to, Pairs x, Pairs y) {
    const uint16x8_t a = vreinterpretq_u16_u32(x), b = vreinterpretq_u16_u32(y);
    store(to, vreinterpretq_u32_u16(vzip1q_u16(a, b)));
    store(to + 4, vreinterpretq_u32_u16(vzip2q_u16(a, b)));
  }

 private:
  static Pairs pairs_of(float32x4_t first, float32x4_t then) {
    return Bf16FloatsArm::pack(without_subnormals(first), without_subnormals(then));
  }
  static float32x4_t without_subnormals(float32x4_t x) {
    const uint32x4_t bits = vreinterpretq_u32_f32(x), magnitude = vdupq_n_u32(0x7FFFFFFFu);
    const uint32x4_t subnormal = vcltq_u32(vandq_u32(bits, magnitude), vdupq_n_u32(0x00800000u));
    return vreinterpretq_f32_u32(vbicq_u32(bits, vandq_u32(subnormal, magnitude)));
  }
};

}  // namespace
}  // namespace mote
