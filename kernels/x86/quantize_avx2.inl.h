// SPDX-License-Identifier: Apache-2.0
//
// Operations of quantizing on vectors of 8 integers: reductions of one vector or of eight, and the conversion
// of 32 floats to bytes.
#pragma once

#include "kernels/x86/math_avx2.inl.h"

namespace mote::avx2 {

static inline int32_t max_lanes(__m256i x) {
  __m128i m = _mm_max_epi32(_mm256_castsi256_si128(x), _mm256_extracti128_si256(x, 1));
  m = _mm_max_epi32(m, _mm_shuffle_epi32(m, _MM_SHUFFLE(1, 0, 3, 2)));
  m = _mm_max_epi32(m, _mm_shuffle_epi32(m, _MM_SHUFFLE(2, 3, 0, 1)));
  return _mm_cvtsi128_si32(m);
}

static inline int32_t sum_lanes(__m256i x) {
  __m128i s = _mm_add_epi32(_mm256_castsi256_si128(x), _mm256_extracti128_si256(x, 1));
  s = _mm_add_epi32(s, _mm_shuffle_epi32(s, _MM_SHUFFLE(1, 0, 3, 2)));
  s = _mm_add_epi32(s, _mm_shuffle_epi32(s, _MM_SHUFFLE(2, 3, 0, 1)));
  return _mm_cvtsi128_si32(s);
}

/// Lane i: the lanes of x[i] combined.
template <class Combine>
static inline __m256i combine_lanes(const __m256i x[kLanes], Combine combine) {
  __m256i quarter[4], half[2];
  MOTE_UNROLL for (uint32_t i = 0; i < 4; ++i) {
    quarter[i] =
        combine(_mm256_unpacklo_epi32(x[2 * i], x[2 * i + 1]), _mm256_unpackhi_epi32(x[2 * i], x[2 * i + 1]));
  }
  MOTE_UNROLL for (uint32_t i = 0; i < 2; ++i) {
    half[i] = combine(_mm256_unpacklo_epi64(quarter[2 * i], quarter[2 * i + 1]),
                      _mm256_unpackhi_epi64(quarter[2 * i], quarter[2 * i + 1]));
  }
  return combine(_mm256_permute2x128_si256(half[0], half[1], 0x20),
                 _mm256_permute2x128_si256(half[0], half[1], 0x31));
}

/// 32 products, rounded. packs interleaves the lanes of its operands: at i are the four that belong at
/// (i % 4) * 2 + i / 4.
static inline __m256i round_to_mixed_bytes(const __m256 x[kGroupVectors], __m256 inverse) {
  __m256i q[kGroupVectors];
  MOTE_UNROLL for (uint32_t i = 0; i < kGroupVectors; ++i) q[i] =
      _mm256_cvtps_epi32(_mm256_mul_ps(x[i], inverse));
  return _mm256_packs_epi16(_mm256_packs_epi32(q[0], q[1]), _mm256_packs_epi32(q[2], q[3]));
}

static inline __m256i in_order(__m256i mixed) {
  return _mm256_permutevar8x32_epi32(mixed, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
}
static inline __m256i round_to_bytes(const __m256 x[kGroupVectors], __m256 inverse) {
  return in_order(round_to_mixed_bytes(x, inverse));
}

/// The 32 bytes summed by fours.
static inline __m256i sum_bytes(__m256i q) {
  return _mm256_madd_epi16(_mm256_maddubs_epi16(_mm256_set1_epi8(1), q), _mm256_set1_epi16(1));
}

}  // namespace mote::avx2
