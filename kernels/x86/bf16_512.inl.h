// SPDX-License-Identifier: Apache-2.0
//
// What attention.inl.h is made of over a cache of bf16: dpbf16, which adds two products of bf16 to each
// float, the first of which is rounded before the second is added. Everything has internal linkage: see
// "Kernels" in docs/design.md.
#pragma once

#include "kernels/x86/floats_512.inl.h"
#include "schema/bf16.h"

namespace mote {
namespace {

struct Bf16Floats512 : Floats512 {
  using Pairs = __m512i;  // of bf16
  using Query = Bf16Pair;
  static constexpr uint32_t kPacked = 2;

  using Floats512::fma;
  using Floats512::load;
  using Floats512::load_first;
  using Floats512::set;

  static Pairs set(Bf16Pair pair) {
    int32_t word;
    memcpy(&word, &pair, 4);
    return _mm512_set1_epi32(word);
  }
  static Pairs load(const Bf16Pair* from) { return _mm512_loadu_si512(from); }
  static Pairs load_first(const Bf16Pair* from, uint32_t count) {
    return _mm512_maskz_loadu_epi32(first_lanes(count), from);
  }
  static Pairs first(Pairs x) { return _mm512_and_si512(x, _mm512_set1_epi32(0x0000FFFF)); }
  static Pairs second(Pairs x) { return _mm512_andnot_si512(_mm512_set1_epi32(0x0000FFFF), x); }
  static Float fma(Pairs a, Pairs b, Float c) {
    return _mm512_dpbf16_ps(c, reinterpret_cast<__m512bh>(a), reinterpret_cast<__m512bh>(b));
  }

  /// exp(x), x at most 0, to 9e-5: a 22nd of the rounding to bf16. exp(0) is 1, NaN stays NaN.
  ///
  /// 2^t = 2^f 2^floor(t), f the fraction of t = x / ln 2; 2^f is 1 and a cubic fitted to [0, 1).
  static Float rough_exp(Float x) {
    constexpr int kFraction = 1 | 8;  // less floor(t), without exceptions
    const Float t = mul(x, set(0x1.715476p+0f));
    const Float f = _mm512_reduce_ps(t, kFraction);
    Float p = set(0x1.3baaa8p-4f);
    p = fma(p, f, set(0x1.d23788p-3f));
    p = fma(p, f, set(0x1.63e658p-1f));
    p = fma(p, f, set(1.0f));
    return _mm512_scalef_ps(p, t);
  }

  static void store_weights(float* weights, uint32_t at, Float x) { store16(weights + at / 2, x); }
  static Pairs weight(const float* weights, uint32_t at) {
    int32_t word;
    memcpy(&word, weights + at, 4);
    return _mm512_set1_epi32(word);
  }
  static __m256i to_bf16(Float x) { return reinterpret_cast<__m256i>(_mm512_cvtneps_pbh(x)); }
  /// An even number of floats.
  static void pack(const float* from, uint32_t count, Bf16Pair* to) {
    uint32_t i = 0;
    for (; i + kLanes <= count; i += kLanes) store16(to + i / 2, load(from + i));
    if (i < count) {
      Bf16Pair last[kLanes / 2];
      store16(last, load_first(from + i, count - i));
      memcpy(to + i / 2, last, (count - i) * 2);
    }
  }

 private:
  static void store16(void* to, Float x) { _mm256_storeu_si256(static_cast<__m256i*>(to), to_bf16(x)); }
};

}  // namespace
}  // namespace mote
