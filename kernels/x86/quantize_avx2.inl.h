// SPDX-License-Identifier: Apache-2.0
//
// What quantizing 32 floats takes: the largest magnitude, rounding to bytes, their sum; and eight of them at
// a time.
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

/// scale_of for 8 groups; those that are 0 in `kept` have q 0.
struct GroupScales {
  __m256 scale, inverse;
  __m256i kept;
};
static inline GroupScales scales_of(__m256i bits) {
  const __m256 absmax = _mm256_castsi256_ps(bits), most = _mm256_set1_ps(127.0f);
  const __m256i finite = _mm256_cmpgt_epi32(_mm256_set1_epi32(0x7F800000), bits);
  const __m256 large = _mm256_cmp_ps(absmax, _mm256_set1_ps(0x1p-100f), _CMP_GE_OQ);
  const __m256 scale = _mm256_and_ps(_mm256_div_ps(absmax, most), large);
  return {_mm256_blendv_ps(_mm256_set1_ps(__builtin_nanf("")), scale, _mm256_castsi256_ps(finite)),
          _mm256_div_ps(most, absmax), _mm256_and_si256(finite, _mm256_castps_si256(large))};
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
