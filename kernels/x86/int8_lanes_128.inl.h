// SPDX-License-Identifier: Apache-2.0
//
// Words of simd/int8_floats.inl.h in 128 bits: SSE4.1. The bytes at even and at odd places become int16,
// and madd adds their products in pairs. Everything has internal linkage: see "Kernels" in
// docs/design.md.
#pragma once

#include "kernels/simd/int8_floats.inl.h"
#include "kernels/x86/rows_128.inl.h"

namespace mote {
namespace {

struct Words128 {
  using Int = __m128i;
  static Int set(int32_t word) { return _mm_set1_epi32(word); }
  static Int load(const KvQuad* from) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from)); }
  static Int load_first(const KvQuad* from, uint32_t count) {
    if (count >= Rows128::kLanes) return load(from);
    KvQuad first[Rows128::kLanes] = {};
    for (uint32_t i = 0; i < count; ++i) first[i] = from[i];
    return load(first);
  }
  static Int dot(Int sum, Int u8, Int s8) {
    const Int even =
        _mm_madd_epi16(_mm_and_si128(u8, _mm_set1_epi16(0xFF)), _mm_srai_epi16(_mm_slli_epi16(s8, 8), 8));
    const Int odd = _mm_madd_epi16(_mm_srli_epi16(u8, 8), _mm_srai_epi16(s8, 8));
    return _mm_add_epi32(sum, _mm_add_epi32(even, odd));
  }
  static __m128 joint(__m128 magnitudes) { return magnitudes; }
  /// A vector's are one quad.
  static void store_quads(KvQuad* to, Int n, uint32_t) {
    const int32_t quad = _mm_cvtsi128_si32(_mm_shuffle_epi8(n, _mm_set1_epi32(0x0C080400)));
    memcpy(to, &quad, sizeof quad);
  }
};

}  // namespace
}  // namespace mote
