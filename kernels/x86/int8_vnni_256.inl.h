// SPDX-License-Identifier: Apache-2.0
//
// The Quads of int8_256.inl.h by dpbusd. Everything has internal linkage: see "Kernels" in docs/design.md.
#pragma once

#include "kernels/x86/int8_256.inl.h"
#include "kernels/x86/vnni_256.inl.h"

namespace mote {
namespace {

struct VnniQuads256 {
  using Vector = __m256i;
  using Query = KvQuad;
  static constexpr uint32_t blocks(uint32_t queries) { return Floats256::blocks(queries); }

  static Vector load(const void* query) { return _mm256_set1_epi32(word_of<int32_t>(query)); }
  static Vector of_unsigned(__m256i x) { return x; }
  static Vector of_signed(__m256i x) { return x; }
  static __m256i fma(Vector query, Vector key, __m256i dot) { return Vnni256::dot(dot, key, query); }

  /// The last bytes of the first `count` int32, 4 or at least 8.
  static void store(KvQuad* to, __m256i x, uint32_t count) {
    const __m256i last = _mm256_setr_epi8(0, 4, 8, 12, 0, 4, 8, 12, 0, 4, 8, 12, 0, 4, 8, 12, 0, 4, 8, 12, 0,
                                          4, 8, 12, 0, 4, 8, 12, 0, 4, 8, 12);
    const __m256i quads = _mm256_shuffle_epi8(x, last);
    const __m128i two = _mm_unpacklo_epi32(_mm256_castsi256_si128(quads), _mm256_extracti128_si256(quads, 1));
    if (count >= 8) {
      _mm_storel_epi64(reinterpret_cast<__m128i*>(to), two);
    } else {
      const int32_t one = _mm_cvtsi128_si32(two);
      memcpy(to, &one, sizeof one);
    }
  }
};

}  // namespace
}  // namespace mote
