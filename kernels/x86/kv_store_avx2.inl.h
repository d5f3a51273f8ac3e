// SPDX-License-Identifier: Apache-2.0
//
// Stores k[t] and v[t] at positions[t]: in a page keys are [page_positions / 16][E][16], values
// [page_positions][F], f16 to nearest even: the same bits as the reference.
//
// An element of a key goes to a place of its own, 16 elements from the next: a store each. Eight neighbouring
// tokens of a prompt fill half a block, so their keys are transposed, 8 columns at a time (24 shuffles for 64
// elements), and stored in whole vectors. Values are contiguous.
#pragma once

#include <assert.h>
#include <string.h>

#include "kernels/x86/math_avx2.inl.h"

namespace mote::avx2 {

constexpr uint32_t kKeyStep = 16;  // elements from one column of a key to the next

static inline void store8(float* to, __m256 x) { _mm256_storeu_ps(to, x); }
static inline void store8(uint16_t* to, __m256 x) {
  const __m128i half = _mm256_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to), half);
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

/// Columns [begin, width) of one key or value, `step` elements apart.
template <class T>
static inline void store_columns(const float* from, uint32_t begin, uint32_t width, T* to, uint32_t step) {
  for (uint32_t e = begin; e < width; e += kLanes) {
    const uint32_t count = width - e < kLanes ? width - e : kLanes;
    T elements[kLanes];
    store8(elements, load_first(from + e, count));
    if (step == 1) {
      memcpy(to + e, elements, count * sizeof(T));
    } else {
      for (uint32_t i = 0; i < count; ++i) to[(e + i) * step] = elements[i];
    }
  }
}

/// Keys of 8 tokens in a row, the first of which goes to `to`.
template <class T>
static inline void store_keys_of_8(ConstRows k, uint32_t row, uint32_t column, uint32_t width, T* to) {
  uint32_t e = 0;
  for (; e + kLanes <= width; e += kLanes) {
    __m256 x[kLanes];
    MOTE_UNROLL for (uint32_t i = 0; i < kLanes; ++i) x[i] = _mm256_loadu_ps(k[row + i] + column + e);
    transpose8(x);
    MOTE_UNROLL for (uint32_t i = 0; i < kLanes; ++i) store8(to + (e + i) * kKeyStep, x[i]);
  }
  for (uint32_t i = 0; i < kLanes; ++i) store_columns(k[row + i] + column, e, width, to + i, kKeyStep);
}

/// Whether 8 rows from `row` on are neighbours that fill half a block of keys.
static inline bool eight_in_a_row(const KvStoreArgs& args, uint32_t row, uint32_t end) {
  if (end - row < kLanes || args.positions[row] % static_cast<int32_t>(kLanes) != 0) return false;
  for (uint32_t i = 1; i < kLanes; ++i) {
    if (args.sequences[row + i] != args.sequences[row]) return false;
    if (args.positions[row + i] != args.positions[row] + static_cast<int32_t>(i)) return false;
  }
  return true;
}

/// Where a token goes: the number of its page, and its place in that.
struct KvPlace {
  uint32_t page, place;
};
static inline KvPlace place_of(const KvStoreArgs& args, uint32_t row) {
  const uint32_t position = static_cast<uint32_t>(args.positions[row]);
  const uint32_t page =
      args.cache.page_of(static_cast<uint32_t>(args.sequences[row]), position / kAttentionTile);
  assert(page != kNoPage && position % kAttentionTile < args.cache.page_positions);
  return {page, position % kAttentionTile};
}

template <class T>
static void kv_store(const KvStoreArgs& args, Range rows) {
  const KvCacheView& cache = args.cache;
  assert(cache.page_positions % kKeyStep == 0);
  const uint32_t key_dim = cache.key_dim, value_dim = cache.value_dim;
  for (uint32_t t = rows.begin, next; t < rows.end; t = next) {
    const bool eight = eight_in_a_row(args, t, rows.end);
    next = t + (eight ? kLanes : 1);
    const KvPlace at = place_of(args, t);
    for (uint32_t g = 0; g < cache.kv_heads; ++g) {
      const size_t start = cache.head_of_page(at.page, g) * cache.page_positions;
      T* key = static_cast<T*>(cache.keys) + (start + at.place / kKeyStep * kKeyStep) * key_dim +
               at.place % kKeyStep;
      if (eight) {
        store_keys_of_8(args.k, t, g * key_dim, key_dim, key);
      } else {
        store_columns(args.k[t] + g * key_dim, 0, key_dim, key, kKeyStep);
      }
      T* value = static_cast<T*>(cache.values) + (start + at.place) * value_dim;
      for (uint32_t i = t; i < next; ++i, value += value_dim) {
        store_columns(args.v[i] + g * value_dim, 0, value_dim, value, 1);
      }
    }
  }
}

}  // namespace mote::avx2
