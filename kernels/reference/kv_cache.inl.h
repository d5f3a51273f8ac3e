// SPDX-License-Identifier: Apache-2.0
//
// Where the columns of a position's key and value lie in a cache (ops.h).
#pragma once

#include <type_traits>

#include "kernels/ops.h"
#include "schema/bf16.h"

namespace mote::ref {

/// Columns of a key, and positions of values, that lie side by side.
template <class Element>
inline constexpr uint32_t kPacked = std::is_same<Element, Bf16>::value ? 2 : 1;

/// Elements from one column, or column pair, of a key to the next: those of 16 positions are interleaved.
template <class Element>
inline constexpr uint32_t kKeyStep = 16 * kPacked<Element>;

static inline size_t head_at(const KvCacheView& cache, uint32_t sequence, uint32_t kv_head) {
  return (static_cast<size_t>(sequence) * cache.kv_heads + kv_head) * cache.capacity * cache.head_dim;
}

/// Column e is Key[e].
template <class Element>
struct Key {
  Element* first;
  Element& operator[](uint32_t e) const {
    return first[static_cast<size_t>(e / kPacked<Element>) * kKeyStep<Element> + e % kPacked<Element>];
  }
};
template <class Element>
static inline Key<Element> key_at(const KvCacheView& cache, uint32_t sequence, uint32_t kv_head,
                                  uint32_t position) {
  const uint32_t slot = position % cache.capacity;
  return {static_cast<Element*>(cache.keys) + head_at(cache, sequence, kv_head) +
          static_cast<size_t>(slot / 16) * cache.head_dim * 16 + slot % 16 * kPacked<Element>};
}

/// Column e is Value[e].
template <class Element>
struct Value {
  Element* first;
  Element& operator[](uint32_t e) const { return first[static_cast<size_t>(e) * kPacked<Element>]; }
};
template <class Element>
static inline Value<Element> value_at(const KvCacheView& cache, uint32_t sequence, uint32_t kv_head,
                                      uint32_t position) {
  const uint32_t slot = position % cache.capacity;
  return {static_cast<Element*>(cache.values) + head_at(cache, sequence, kv_head) +
          static_cast<size_t>(slot - slot % kPacked<Element>) * cache.head_dim + slot % kPacked<Element>};
}

}  // namespace mote::ref
