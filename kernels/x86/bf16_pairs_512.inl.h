// SPDX-License-Identifier: Apache-2.0
//
// The vectors of simd/kv_store_bf16.inl.h with AVX-512-BF16, half as wide as its registers. Everything has
// internal linkage: see "Kernels" in docs/design.md.
#pragma once

#include "kernels/x86/bf16_512.inl.h"

namespace mote {
namespace {

struct Bf16Pairs512 {
  using Pairs = __m256i;
  static constexpr uint32_t kPairs = 8;

  static Pairs to_pairs(const float* from) { return pairs_of(Bf16Floats512::load(from)); }
  static Pairs to_pairs(const float* from, uint32_t count) {
    return pairs_of(Bf16Floats512::load_first(from, count));
  }
  static void transpose(Pairs (&x)[kPairs]) {
    __m256 words[kPairs];
    MOTE_UNROLL for (uint32_t i = 0; i < kPairs; ++i) words[i] = _mm256_castsi256_ps(x[i]);
    avx2::transpose8(words);
    MOTE_UNROLL for (uint32_t i = 0; i < kPairs; ++i) x[i] = _mm256_castps_si256(words[i]);
  }
  static void store(Bf16Pair* to, Pairs x) { _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), x); }
  static void store_columns(Bf16Pair* to, Pairs x, Pairs y) {
    _mm512_storeu_si512(
        to, _mm512_or_si512(_mm512_cvtepu16_epi32(x), _mm512_slli_epi32(_mm512_cvtepu16_epi32(y), 16)));
  }

 private:
  static Pairs pairs_of(__m512 x) { return reinterpret_cast<Pairs>(_mm512_cvtneps_pbh(x)); }
};

}  // namespace
}  // namespace mote
