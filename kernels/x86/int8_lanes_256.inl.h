// SPDX-License-Identifier: Apache-2.0
//
// Words of simd/int8_floats.inl.h in vectors of 256 bits, but for dot and joint: those are by dpbusd where
// the processor has it (int8_lanes_vnni_256.inl.h), else by maddubs (int8_lanes_maddubs_256.inl.h).
// Everything has internal linkage: see "Kernels" in docs/design.md.
#pragma once

#include "kernels/simd/int8_floats.inl.h"
#include "kernels/x86/rows_256.inl.h"

namespace mote {
namespace {

struct Words256 {
  using Int = __m256i;
  static Int set(int32_t word) { return _mm256_set1_epi32(word); }
  static Int load(const KvQuad* from) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)); }
  static Int load_first(const KvQuad* from, uint32_t count) {
    return _mm256_maskload_epi32(reinterpret_cast<const int*>(from), avx2::tail_mask(count));
  }
  static void store_quads(KvQuad* to, Int n, uint32_t count) {
    const __m256i last = _mm256_setr_epi8(0, 4, 8, 12, 0, 4, 8, 12, 0, 4, 8, 12, 0, 4, 8, 12, 0, 4, 8, 12, 0,
                                          4, 8, 12, 0, 4, 8, 12, 0, 4, 8, 12);
    const __m256i quads = _mm256_shuffle_epi8(n, last);
    const __m128i two = _mm_unpacklo_epi32(_mm256_castsi256_si128(quads), _mm256_extracti128_si256(quads, 1));
    if (count >= Rows256::kLanes) {
      _mm_storel_epi64(reinterpret_cast<__m128i*>(to), two);
    } else {
      const int32_t one = _mm_cvtsi128_si32(two);
      memcpy(to, &one, sizeof one);
    }
  }
};

}  // namespace
}  // namespace mote
