// SPDX-License-Identifier: Apache-2.0
//
// What quantizing 32 floats takes: the largest magnitude, rounding to bytes, their sum.
#pragma once

#include "kernels/x86/math_avx2.inl.h"

namespace mote::avx2 {

/// Bits of |x|, which order as integers do: finite < infinity < NaN.
static inline __m256i magnitude_bits(__m256 x) {
  return _mm256_and_si256(_mm256_castps_si256(x), _mm256_set1_epi32(0x7FFFFFFF));
}

/// Bits of the largest magnitude of each lane.
static inline __m256i largest_bits(const __m256 x[kGroupVectors]) {
  return _mm256_max_epi32(_mm256_max_epi32(magnitude_bits(x[0]), magnitude_bits(x[1])),
                          _mm256_max_epi32(magnitude_bits(x[2]), magnitude_bits(x[3])));
}

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

/// How a group whose largest magnitude has these bits is quantized: `inverse` 0 makes all its q 0.
struct GroupScale {
  float scale, inverse;
};
static inline GroupScale scale_of(int32_t bits) {
  float absmax;
  memcpy(&absmax, &bits, 4);
  const bool finite = bits < 0x7F800000;
  if (!finite) return {__builtin_nanf(""), 0.0f};
  if (absmax < 0x1p-100f) return {0.0f, 0.0f};
  return {absmax / 127.0f, 127.0f / absmax};
}

/// 32 products, rounded, in order. packs interleaves the lanes of its operands; the permutation undoes it.
static inline __m256i round_to_bytes(const __m256 x[kGroupVectors], __m256 inverse) {
  __m256i q[kGroupVectors];
  MOTE_UNROLL for (uint32_t i = 0; i < kGroupVectors; ++i) q[i] =
      _mm256_cvtps_epi32(_mm256_mul_ps(x[i], inverse));
  const __m256i bytes = _mm256_packs_epi16(_mm256_packs_epi32(q[0], q[1]), _mm256_packs_epi32(q[2], q[3]));
  return _mm256_permutevar8x32_epi32(bytes, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
}

/// The 32 bytes summed by fours.
static inline __m256i sum_bytes(__m256i q) {
  return _mm256_madd_epi16(_mm256_maddubs_epi16(_mm256_set1_epi8(1), q), _mm256_set1_epi16(1));
}

/// Columns [column, column + 32) of a row times those of `columns`, unless they are null; 0 past its width.
static inline void load_group(const float* row, const float* columns, size_t width, size_t column,
                              __m256 x[kGroupVectors]) {
  if (column + kGroupColumns <= width) {
    MOTE_UNROLL for (uint32_t i = 0; i < kGroupVectors; ++i) x[i] =
        _mm256_loadu_ps(row + column + i * kLanes);
    if (columns == nullptr) return;
    MOTE_UNROLL for (uint32_t i = 0; i < kGroupVectors; ++i) x[i] =
        _mm256_mul_ps(x[i], _mm256_loadu_ps(columns + column + i * kLanes));
    return;
  }
  MOTE_UNROLL for (uint32_t i = 0; i < kGroupVectors; ++i) {
    const size_t first = column + i * kLanes;
    x[i] = _mm256_setzero_ps();
    if (first >= width) continue;
    const __m256i mask = tail_mask(static_cast<uint32_t>(width - first));
    x[i] = load_masked(row + first, mask);
    if (columns != nullptr) x[i] = _mm256_mul_ps(x[i], load_masked(columns + first, mask));
  }
}

}  // namespace mote::avx2
