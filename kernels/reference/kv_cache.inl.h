// SPDX-License-Identifier: Apache-2.0
//
// Where a position's key and value lie in a cache.
#pragma once

#include "kernels/ops.h"

namespace mote::ref {

inline constexpr uint32_t kKeyStep =
    16;  // elements from one column of a key to the next: 16 positions are interleaved

/// Column 0 of the key; column e is kKeyStep * e further.
template <class Element>
static inline Element* key_at(const KvCacheView& cache, uint32_t sequence, uint32_t kv_head,
                              uint32_t position) {
  const uint32_t slot = position % cache.capacity;
  const size_t head =
      (static_cast<size_t>(sequence) * cache.kv_heads + kv_head) * cache.capacity * cache.head_dim;
  return static_cast<Element*>(cache.keys) + head + static_cast<size_t>(slot / 16) * cache.head_dim * 16 +
         slot % 16;
}

template <class Element>
static inline Element* value_at(const KvCacheView& cache, uint32_t sequence, uint32_t kv_head,
                                uint32_t position) {
  const uint32_t slot = position % cache.capacity;
  const size_t head =
      (static_cast<size_t>(sequence) * cache.kv_heads + kv_head) * cache.capacity * cache.head_dim;
  return static_cast<Element*>(cache.values) + head + static_cast<size_t>(slot) * cache.head_dim;
}

}  // namespace mote::ref
