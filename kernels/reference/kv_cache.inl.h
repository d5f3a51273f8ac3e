// SPDX-License-Identifier: Apache-2.0
//
// Where the columns of a position's key and value lie in a cache (attention_ops.h).
#pragma once

#include <assert.h>
#include <string.h>

#include <type_traits>

#include "kernels/ops.h"
#include "schema/bf16.h"

namespace mote::ref {

/// Columns of a key, and positions of values, that lie side by side.
template <class Element>
inline constexpr uint32_t kPacked = std::is_same<Element, Bf16>::value ? 2 : 1;

/// Elements of 16 positions' keys or values; of i8, quads, of which the first 16 are the scales.
template <class Element>
static inline size_t block_elements(uint32_t columns) {
  return size_t{16} * (std::is_same<Element, KvQuad>::value ? 1 + columns / 4 : columns);
}

/// Column e is Key[e], of the position that has this place among the 16 of the block.
template <class Element>
struct Key {
  Element* block;
  uint32_t place;
  Element& operator[](uint32_t e) const {
    constexpr uint32_t kSide = kPacked<Element>;
    return block[(e / kSide * 16 + place) * kSide + e % kSide];
  }
};

/// Column e is Value[e].
template <class Element>
struct Value {
  Element* block;
  uint32_t place, value_dim;
  Element& operator[](uint32_t e) const {
    constexpr uint32_t kSide = kPacked<Element>;
    return block[(place / kSide * value_dim + e) * kSide + place % kSide];
  }
};

/// The scale of a key or value of i8 takes a quad.
static inline float load_scale(const KvQuad& from) {
  float scale;
  memcpy(&scale, &from, sizeof scale);
  return scale;
}
static inline void store_scale(float scale, KvQuad* to) { memcpy(to, &scale, sizeof scale); }

/// A key of i8: Key[e] is the dequantized column e; store takes a quantized one.
template <>
struct Key<KvQuad> {
  KvQuad* block;
  uint32_t place;
  KvQuad& scale() const { return block[place]; }
  uint8_t& byte(uint32_t e) const { return block[(1 + e / 4) * 16 + place].bytes[e % 4]; }
  void store(uint32_t e, int8_t q) const { byte(e) = static_cast<uint8_t>(q + 128); }
  float operator[](uint32_t e) const { return load_scale(scale()) * static_cast<float>(byte(e) - 128); }
};

template <>
struct Value<KvQuad> {
  KvQuad* block;
  uint32_t place, value_dim;
  KvQuad& scale() const { return block[place]; }
  uint8_t& byte(uint32_t e) const { return block[16 + place / 4 * value_dim + e].bytes[place % 4]; }
  void store(uint32_t e, int8_t q) const { byte(e) = static_cast<uint8_t>(q); }
  float operator[](uint32_t e) const {
    return load_scale(scale()) * static_cast<float>(static_cast<int8_t>(byte(e)));
  }
};

/// The block of a position, in the cache's keys or values, which have so many columns.
template <class Element>
static inline Element* block_at(const KvCacheView& cache, void* keys_or_values, uint32_t columns,
                                uint32_t sequence, uint32_t kv_head, uint32_t position) {
  const uint32_t page = cache.page_of(sequence, position / kAttentionTile);
  assert(page != kNoPage && position % kAttentionTile < cache.page_positions);
  const size_t block =
      cache.head_of_page(page, kv_head) * (cache.page_positions / 16) + position % kAttentionTile / 16;
  return static_cast<Element*>(keys_or_values) + block * block_elements<Element>(columns);
}

template <class Element>
static inline Key<Element> key_at(const KvCacheView& cache, uint32_t sequence, uint32_t kv_head,
                                  uint32_t position) {
  Element* block = block_at<Element>(cache, cache.keys, cache.key_dim, sequence, kv_head, position);
  return {block, position % 16};
}

template <class Element>
static inline Value<Element> value_at(const KvCacheView& cache, uint32_t sequence, uint32_t kv_head,
                                      uint32_t position) {
  Element* block = block_at<Element>(cache, cache.values, cache.value_dim, sequence, kv_head, position);
  return {block, position % 16, cache.value_dim};
}

}  // namespace mote::ref
