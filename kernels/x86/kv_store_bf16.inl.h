// SPDX-License-Identifier: Apache-2.0
//
// Stores k[t] and v[t] at positions[t] as bf16 in pairs (attention_ops.h), bitwise equal to the reference.
// Eight neighbouring tokens fill half a block of keys, which is transposed pair by pair, and four rows of
// values, each of which interleaves two tokens. Other tokens are stored element by element.
#pragma once

#include "kernels/simd/kv_store.inl.h"
#include "kernels/x86/bf16_512.inl.h"

namespace mote::avx512_bf16 {

constexpr uint32_t kColumns = Bf16Floats512::kLanes;

/// Calls each(column, pair) for every two columns of [begin, width).
template <class Each>
static inline void each_pair(const float* x, uint32_t begin, uint32_t width, Each each) {
  for (uint32_t e = begin; e < width; e += 2 * kColumns) {
    const uint32_t count = width - e < 2 * kColumns ? width - e : 2 * kColumns;
    Bf16Pair pairs[kColumns];
    Bf16Floats512::pack(x + e, count, 1.0f, pairs);
    for (uint32_t i = 0; i < count; i += 2) each(e + i, pairs[i / 2]);
  }
}

/// Columns [begin, width) of one token's key or value.
static inline void store_key(const float* k, uint32_t begin, uint32_t width, Bf16Pair* key) {
  each_pair(k, begin, width, [&](uint32_t e, Bf16Pair pair) { key[e / 2 * kKeyStep] = pair; });
}
static inline void store_value(const float* v, uint32_t begin, uint32_t width, Bf16* value) {
  each_pair(v, begin, width, [&](uint32_t e, Bf16Pair pair) {
    value[2 * e] = pair.first;
    value[2 * e + 2] = pair.second;
  });
}

/// Keys of 8 tokens from `row` on, the first of which goes to `to`.
static inline void store_keys_of_8(ConstRows k, uint32_t row, uint32_t column, uint32_t width, Bf16Pair* to) {
  uint32_t e = 0;
  for (; e + kColumns <= width; e += kColumns) {
    __m256 pairs[8];
    MOTE_UNROLL for (uint32_t i = 0; i < 8; ++i) {
      pairs[i] = _mm256_castsi256_ps(Bf16Floats512::to_bf16(Bf16Floats512::load(k[row + i] + column + e)));
    }
    avx2::transpose8(pairs);
    MOTE_UNROLL for (uint32_t i = 0; i < 8; ++i) {
      _mm256_storeu_ps(reinterpret_cast<float*>(to + (e / 2 + i) * kKeyStep), pairs[i]);
    }
  }
  for (uint32_t i = 0; i < 8; ++i) store_key(k[row + i] + column, e, width, to + i);
}

/// Values of two tokens.
static inline void store_values_of_2(const float* first, const float* second, uint32_t width, Bf16Pair* to) {
  uint32_t e = 0;
  for (; e + kColumns <= width; e += kColumns) {
    const auto low = Bf16Floats512::to_bf16(Bf16Floats512::load(first + e));
    const auto high = Bf16Floats512::to_bf16(Bf16Floats512::load(second + e));
    const __m512i words =
        _mm512_or_si512(_mm512_cvtepu16_epi32(low), _mm512_slli_epi32(_mm512_cvtepu16_epi32(high), 16));
    _mm512_storeu_si512(to + e, words);
  }
  store_value(first, e, width, &to->first);
  store_value(second, e, width, &to->second);
}

static inline void kv_store(const KvStoreArgs& args, Range rows) {
  const KvCacheView& cache = args.cache;
  const uint32_t key_dim = cache.key_dim, value_dim = cache.value_dim;
  assert(cache.page_positions % kKeyStep == 0 && key_dim % 2 == 0 && value_dim % 2 == 0);
  for (uint32_t t = rows.begin, next; t < rows.end; t = next) {
    const bool eight = are_neighbours(args, t, rows.end, 8);
    next = t + (eight ? 8 : 1);
    const KvPlace at = place_of(args, t);
    const uint32_t block = at.place / kKeyStep * kKeyStep;
    for (uint32_t g = 0; g < cache.kv_heads; ++g) {
      const size_t start = cache.head_of_page(at.page, g) * cache.page_positions;
      Bf16Pair* key = static_cast<Bf16Pair*>(cache.keys) + (start + block) * (key_dim / 2) + at.place - block;
      Bf16Pair* value = static_cast<Bf16Pair*>(cache.values) + (start + at.place) / 2 * value_dim;
      const ConstRows v = {args.v[0] + g * value_dim, args.v.stride_bytes};
      if (eight) {
        store_keys_of_8(args.k, t, g * key_dim, key_dim, key);
        for (uint32_t i = t; i < next; i += 2, value += value_dim) {
          store_values_of_2(v[i], v[i + 1], value_dim, value);
        }
      } else {
        store_key(args.k[t] + g * key_dim, 0, key_dim, key);
        store_value(v[t], 0, value_dim, at.place % 2 == 0 ? &value->first : &value->second);
      }
    }
  }
}

}  // namespace mote::avx512_bf16
