// SPDX-License-Identifier: Apache-2.0
//
// Vectors of 8 floats: tails and reductions.
#pragma once

#include <immintrin.h>
#include <string.h>

#include "kernels/ops.h"
#include "kernels/simd/compiler.h"

namespace mote::avx2 {

constexpr uint32_t kLanes = 8;
constexpr uint32_t kGroupVectors = kGroupColumns / kLanes;

/// The first `count` lanes, all of them from 8 on: a mask for the loads and stores below.
static inline __m256i tail_mask(uint32_t count) {
  const int lanes = static_cast<int>(count < kLanes ? count : kLanes);
  return _mm256_cmpgt_epi32(_mm256_set1_epi32(lanes), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}

/// Lanes outside the mask are 0 and their memory is not touched.
static inline __m256 load_masked(const float* from, __m256i mask) { return _mm256_maskload_ps(from, mask); }
static inline void store_masked(float* to, __m256i mask, __m256 x) { _mm256_maskstore_ps(to, mask, x); }

/// The `count` <= 8 first lanes; the others are 0 and their memory is not touched.
static inline __m256 load_first(const float* from, uint32_t count) {
  return count >= kLanes ? _mm256_loadu_ps(from) : load_masked(from, tail_mask(count));
}
static inline void store_first(float* to, uint32_t count, __m256 x) {
  if (count >= kLanes) {
    _mm256_storeu_ps(to, x);
  } else {
    store_masked(to, tail_mask(count), x);
  }
}

/// 8 elements, and the first `count` <= 8 of them, of float or of IEEE half.
static inline __m256 load8(const float* from) { return _mm256_loadu_ps(from); }
static inline __m256 load8(const uint16_t* from) {
  return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
}
static inline __m256 load_first(const uint16_t* from, uint32_t count) {
  uint16_t first[kLanes] = {};
  memcpy(first, from, (count < kLanes ? count : kLanes) * sizeof(uint16_t));
  return load8(first);
}

/// x[i][j] becomes x[j][i].
static inline void transpose8(__m256 x[kLanes]) {
  __m256 a[kLanes], b[kLanes];
  MOTE_UNROLL for (uint32_t i = 0; i < 4; ++i) {
    a[2 * i] = _mm256_unpacklo_ps(x[2 * i], x[2 * i + 1]);
    a[2 * i + 1] = _mm256_unpackhi_ps(x[2 * i], x[2 * i + 1]);
  }
  MOTE_UNROLL for (uint32_t i = 0; i < 4; ++i) {  // i: a column of each half
    const uint32_t pair = i / 2;
    const __m256 low = a[pair], high = a[2 + pair], low2 = a[4 + pair], high2 = a[6 + pair];
    constexpr int kFirst = _MM_SHUFFLE(1, 0, 1, 0), kSecond = _MM_SHUFFLE(3, 2, 3, 2);
    b[i] = i % 2 == 0 ? _mm256_shuffle_ps(low, high, kFirst) : _mm256_shuffle_ps(low, high, kSecond);
    b[4 + i] = i % 2 == 0 ? _mm256_shuffle_ps(low2, high2, kFirst) : _mm256_shuffle_ps(low2, high2, kSecond);
  }
  MOTE_UNROLL for (uint32_t i = 0; i < 4; ++i) {
    x[i] = _mm256_permute2f128_ps(b[i], b[4 + i], 0x20);
    x[4 + i] = _mm256_permute2f128_ps(b[i], b[4 + i], 0x31);
  }
}

/// ((0+4) + (2+6)) + ((1+5) + (3+7)).
static inline float sum_lanes(__m256 x) {
  __m128 half = _mm_add_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1));
  half = _mm_add_ps(half, _mm_movehl_ps(half, half));
  return _mm_cvtss_f32(_mm_add_ss(half, _mm_movehdup_ps(half)));
}

/// A NaN lane gives NaN or the largest of the others.
static inline float max_lanes(__m256 x) {
  __m128 half = _mm_max_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1));
  half = _mm_max_ps(half, _mm_movehl_ps(half, half));
  return _mm_cvtss_f32(_mm_max_ss(half, _mm_movehdup_ps(half)));
}

}  // namespace mote::avx2
