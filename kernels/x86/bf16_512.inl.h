// SPDX-License-Identifier: Apache-2.0
//
// The vectors of attention.inl.h over a cache of bf16: dpbf16 adds two products of bf16 to each float, and
// rounds the first sum before it adds the second product. Everything has internal linkage: see "Kernels" in
// docs/design.md.
//
// Against the reference: queries and weights are rounded to bf16. The scores of a query q differ by
// d = scale 2^-9 sum |q_e k_e| at most, so out by (2 d + 2^-8 + (n + 8) 2^-24) max |v|.
#pragma once

#include "kernels/x86/rough_exp_512.inl.h"
#include "schema/bf16.h"

namespace mote {
namespace {

struct Bf16Floats512 : RoughExp512 {
  using Pairs = __m512i;  // of bf16
  using Query = Bf16Pair;
  static constexpr uint32_t kPacked = 2;
  using Total = Float;  // of the weights, two positions in each

  using Floats512::fma;
  using Floats512::load;
  using Floats512::load_first;
  using Floats512::set;

  static Float dot_start(const Bf16Pair*, uint32_t) { return set(0.0f); }
  static Pairs set(Bf16Pair pair) {
    int32_t word;
    memcpy(&word, &pair, 4);
    return _mm512_set1_epi32(word);
  }
  static Pairs load(const Bf16Pair* from) { return _mm512_loadu_si512(from); }
  static Pairs load_first(const Bf16Pair* from, uint32_t count) {
    return _mm512_maskz_loadu_epi32(first_lanes(count), from);
  }
  /// Queries are scaled already.
  static Float score(Float dot, float, const Bf16Pair*, uint32_t, const Bf16Pair*) { return dot; }
  static Pairs first(Pairs x) { return _mm512_and_si512(x, _mm512_set1_epi32(0x0000FFFF)); }
  static Pairs second(Pairs x) { return _mm512_andnot_si512(_mm512_set1_epi32(0x0000FFFF), x); }
  static Float fma(Pairs a, Pairs b, Float c) {
    return _mm512_dpbf16_ps(c, reinterpret_cast<__m512bh>(a), reinterpret_cast<__m512bh>(b));
  }

  static Pairs weight(const float* weights, uint32_t at) {
    int32_t word;
    memcpy(&word, weights + at, 4);
    return _mm512_set1_epi32(word);
  }
  static Total add_both(Total sums, Pairs x) { return fma(x, _mm512_set1_epi32(kTwoOnes), sums); }
  static float sum(Total sums) { return avx2::sum_lanes(Floats512::add_weights(_mm256_setzero_ps(), sums)); }

  /// The pairs of 16 floats, then of 16 others.
  static Pairs pack(Float first, Float then) {
    return reinterpret_cast<Pairs>(_mm512_cvtne2ps_pbh(then, first));
  }
  /// An even number of floats times `factor`.
  static void pack(const float* from, uint32_t count, float factor, Bf16Pair* to) {
    const Float factors = set(factor);
    uint32_t i = 0;
    for (; i + 2 * kLanes <= count; i += 2 * kLanes) {
      store_pairs(to + i / 2, pack(mul(load(from + i), factors), mul(load(from + i + kLanes), factors)));
    }
    if (i < count) {
      const uint32_t left = count - i, beyond = left > kLanes ? left - kLanes : 0;
      const Pairs last = pack(mul(load_first(from + i, left), factors),
                              mul(load_first(from + i + left - beyond, beyond), factors));
      _mm512_mask_storeu_epi32(to + i / 2, first_lanes(left / 2), last);
    }
  }
  static void store_pairs(void* to, Pairs x) { _mm512_storeu_si512(to, x); }

 private:
  static constexpr int32_t kTwoOnes = 0x3F803F80;  // of bf16
};

}  // namespace
}  // namespace mote
