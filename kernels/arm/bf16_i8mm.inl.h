// SPDX-License-Identifier: Apache-2.0
//
// The vectors of attention.inl.h over a cache of bf16 in 128 bits: bfdot adds two products of bf16 to each
// float. Everything has internal linkage: see "Kernels" in docs/design.md.
//
// Against the reference: queries and weights are rounded to bf16, as in bf16_512.inl.h, which has the bound.
// bfdot rounds its sums to odd, by at most 2^-23 of each.
#pragma once

#include "kernels/arm/floats_neon.inl.h"
#include "kernels/simd/rough_exp.inl.h"
#include "schema/bf16.h"

namespace mote {
namespace {

struct Bf16FloatsArm : FloatsNeon {
  using Pairs = uint32x4_t;  // of bf16
  using Query = Bf16Pair;
  static constexpr uint32_t kPacked = 2;
  using Total = Float;  // of the weights, two positions in each

  using FloatsNeon::fma;
  using FloatsNeon::load;
  using FloatsNeon::load_first;
  using FloatsNeon::set;
  using FloatsNeon::sum;

  static Float dot_start(const Bf16Pair*, uint32_t) { return set(0.0f); }
  static Pairs set(Bf16Pair pair) {
    uint32_t word;
    memcpy(&word, &pair, sizeof word);
    return vdupq_n_u32(word);
  }
  static Pairs load(const Bf16Pair* from) { return vld1q_u32(reinterpret_cast<const uint32_t*>(from)); }
  static Pairs load_first(const Bf16Pair* from, uint32_t count) {
    uint32_t words[kLanes] = {};
    memcpy(words, from, (count < kLanes ? count : kLanes) * sizeof words[0]);
    return vld1q_u32(words);
  }
  /// Queries are scaled already.
  static Float score(Float dot, float, const Bf16Pair*, uint32_t, const Bf16Pair*) { return dot; }
  static Pairs first(Pairs x) { return vandq_u32(x, vdupq_n_u32(0x0000FFFFu)); }
  static Pairs second(Pairs x) { return vandq_u32(x, vdupq_n_u32(0xFFFF0000u)); }
  static Float fma(Pairs a, Pairs b, Float c) {
    return vbfdotq_f32(c, vreinterpretq_bf16_u32(a), vreinterpretq_bf16_u32(b));
  }

  /// 0 for the -inf of invisible positions: sums that are rounded to odd show the least weight.
  static Float rough_exp(Float x, Float shift) {
    return where_less(x, set(-__FLT_MAX__), set(0.0f), mote::rough_exp<FloatsNeon>(x, shift));
  }
  static Float shift_of(float largest) { return rough_shift<FloatsNeon>(largest); }
  static Pairs weight(const float* weights, uint32_t at) {
    uint32_t word;
    memcpy(&word, weights + at, sizeof word);
    return vdupq_n_u32(word);
  }
  static Total add_both(Total sums, Pairs x) {
    uint32x4_t ones = vdupq_n_u32(0x3F803F80u);
    __asm__("" : "+w"(ones));  // GCC 12 takes a constant vector of bf16 for one of f16
    return fma(x, ones, sums);
  }

  /// The pairs of 4 floats, then of 4 others.
  static Pairs pack(Float first, Float then) {
    return vreinterpretq_u32_bf16(vcvtq_high_bf16_f32(vcvtq_low_bf16_f32(first), then));
  }
  /// An even number of floats times `factor`.
  static void pack(const float* from, uint32_t count, float factor, Bf16Pair* to) {
    const Float factors = set(factor);
    for (uint32_t i = 0; i < count; i += 2 * kLanes) {
      const uint32_t left = count - i, beyond = left > kLanes ? left - kLanes : 0;
      const Float first = mul(load_first(from + i, left), factors),
                  then = beyond == 0 ? set(0.0f) : mul(load_first(from + i + kLanes, beyond), factors);
      uint32_t words[kLanes];
      vst1q_u32(words, pack(first, then));
      memcpy(to + i / 2, words, (left < 2 * kLanes ? left / 2 : kLanes) * sizeof words[0]);
    }
  }
  static void store_pairs(void* to, Pairs x) { vst1q_u32(static_cast<uint32_t*>(to), x); }
};

}  // namespace
}  // namespace mote
