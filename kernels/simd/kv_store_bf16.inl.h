// SPDX-License-Identifier: Apache-2.0
//
// Stores k[t] and v[t] at positions[t] as bf16 in pairs (attention_ops.h), bitwise equal to the reference.
// V gives vectors of kPairs pairs, Pairs, of neighbouring columns of one token:
//   to_pairs(from), to_pairs(from, count)   2 kPairs floats, or the first of them and zeros, as bf16_from_f32
//   transpose(x)                            pair i of x[j] and pair j of x[i]
//   store(to, x)                            kPairs pairs
//   store_columns(to, x, y)                 2 kPairs pairs: a column of x and the same of y
// As many neighbouring tokens as a vector has pairs fill part of a block of keys, which is transposed pair by
// pair, and half as many rows of values, each of which interleaves two tokens. Other tokens are stored
// element by element.
#pragma once

#include "kernels/simd/kv_store.inl.h"
#include "schema/bf16.h"

namespace mote {
namespace {

/// Calls each(column, pair) for every two columns of [begin, width).
template <class V, class Each>
inline void each_pair(const float* x, uint32_t begin, uint32_t width, const Each& each) {
  for (uint32_t e = begin; e < width; e += 2 * V::kPairs) {
    const uint32_t left = width - e, count = left < 2 * V::kPairs ? left : 2 * V::kPairs;
    Bf16Pair pairs[V::kPairs];
    V::store(pairs, V::to_pairs(x + e, count));
    for (uint32_t i = 0; i < count; i += 2) each(e + i, pairs[i / 2]);
  }
}

/// Columns [begin, width) of one token's key or value.
template <class V>
inline void store_key_bf16(const float* k, uint32_t begin, uint32_t width, Bf16Pair* key) {
  each_pair<V>(k, begin, width, [key](uint32_t e, Bf16Pair pair) { key[e / 2 * kKeyStep] = pair; });
}
template <class V>
inline void store_value_bf16(const float* v, uint32_t begin, uint32_t width, Bf16* value) {
  each_pair<V>(v, begin, width, [value](uint32_t e, Bf16Pair pair) {
    value[2 * e] = pair.first;
    value[2 * e + 2] = pair.second;
  });
}

/// Keys of kPairs tokens from `row` on, the first of which goes to `to`.
template <class V>
inline void store_keys_bf16(ConstRows k, uint32_t row, uint32_t column, uint32_t width, Bf16Pair* to) {
  uint32_t e = 0;
  for (; e + 2 * V::kPairs <= width; e += 2 * V::kPairs) {
    typename V::Pairs pairs[V::kPairs];
    MOTE_UNROLL for (uint32_t i = 0; i < V::kPairs; ++i) pairs[i] = V::to_pairs(k[row + i] + column + e);
    V::transpose(pairs);
    MOTE_UNROLL for (uint32_t i = 0; i < V::kPairs; ++i) V::store(to + (e / 2 + i) * kKeyStep, pairs[i]);
  }
  for (uint32_t i = 0; i < V::kPairs; ++i) store_key_bf16<V>(k[row + i] + column, e, width, to + i);
}

/// Values of two tokens.
template <class V>
inline void store_values_bf16(const float* first, const float* second, uint32_t width, Bf16Pair* to) {
  uint32_t e = 0;
  for (; e + 2 * V::kPairs <= width; e += 2 * V::kPairs)
    V::store_columns(to + e, V::to_pairs(first + e), V::to_pairs(second + e));
  store_value_bf16<V>(first, e, width, &to->first);
  store_value_bf16<V>(second, e, width, &to->second);
}

template <class V>
void kv_store_bf16(const KvStoreArgs& args, Range rows, void*) {
  static_assert(V::kPairs % 2 == 0 && kKeyStep % V::kPairs == 0);
  const KvCacheView& cache = args.cache;
  const uint32_t key_dim = cache.key_dim, value_dim = cache.value_dim;
  assert(cache.page_positions % kKeyStep == 0 && key_dim % 2 == 0 && value_dim % 2 == 0);
  for (uint32_t t = rows.begin, next; t < rows.end; t = next) {
    const bool several = are_neighbours(args, t, rows.end, V::kPairs);
    next = t + (several ? V::kPairs : 1);
    const KvPlace at = place_of(args, t);
    const uint32_t block = at.place / kKeyStep * kKeyStep;
    for (uint32_t g = 0; g < cache.kv_heads; ++g) {
      const size_t start = cache.head_of_page(at.page, g) * cache.page_positions;
      Bf16Pair* key = static_cast<Bf16Pair*>(cache.keys) + (start + block) * (key_dim / 2) + at.place - block;
      Bf16Pair* value = static_cast<Bf16Pair*>(cache.values) + (start + at.place) / 2 * value_dim;
      const ConstRows v = {args.v[0] + g * value_dim, args.v.stride_bytes};
      if (several) {
        store_keys_bf16<V>(args.k, t, g * key_dim, key_dim, key);
        for (uint32_t i = t; i < next; i += 2, value += value_dim)
          store_values_bf16<V>(v[i], v[i + 1], value_dim, value);
      } else {
        store_key_bf16<V>(args.k[t] + g * key_dim, 0, key_dim, key);
        store_value_bf16<V>(v[t], 0, value_dim, at.place % 2 == 0 ? &value->first : &value->second);
      }
    }
  }
}

}  // namespace
}  // namespace mote
