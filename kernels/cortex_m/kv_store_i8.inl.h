// SPDX-License-Identifier: Apache-2.0
//
// Quantizes each head of keys and values, a multiple of 4 columns, and stores it in a cache of i8.
#pragma once

#include "kernels/reference/kv_cache.inl.h"

namespace mote::cortex_m {

template <class Columns>
static inline void kv_store_i8(const KvStoreArgs& args, Range rows) {
  const KvCacheView& cache = args.cache;
  for (uint32_t t = rows.begin; t < rows.end; ++t) {
    const auto position = static_cast<uint32_t>(args.positions[t]);
    const auto sequence = static_cast<uint32_t>(args.sequences[t]);
    for (uint32_t g = 0; g < cache.kv_heads; ++g) {
      Columns::store_key(args.k[t] + g * cache.key_dim, cache.key_dim,
                         ref::key_at<KvQuad>(cache, sequence, g, position));
      Columns::store_value(args.v[t] + g * cache.value_dim, cache.value_dim,
                           ref::value_at<KvQuad>(cache, sequence, g, position));
    }
  }
}

}  // namespace mote::cortex_m
