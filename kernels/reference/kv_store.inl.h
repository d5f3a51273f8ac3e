// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/reference/element.inl.h"
#include "kernels/reference/kv_cache.inl.h"

namespace mote::ref {

template <class Element>
static inline void kv_store(const KvStoreArgs& args, Range rows) {
  const uint32_t key_dim = args.cache.key_dim, value_dim = args.cache.value_dim;
  for (uint32_t t = rows.begin; t < rows.end; ++t) {
    const uint32_t position = static_cast<uint32_t>(args.positions[t]);
    const uint32_t sequence = static_cast<uint32_t>(args.sequences[t]);
    for (uint32_t g = 0; g < args.cache.kv_heads; ++g) {
      const Key<Element> key = key_at<Element>(args.cache, sequence, g, position);
      const Value<Element> value = value_at<Element>(args.cache, sequence, g, position);
      for (uint32_t e = 0; e < key_dim; ++e) store(args.k[t][g * key_dim + e], &key[e]);
      for (uint32_t e = 0; e < value_dim; ++e) store(args.v[t][g * value_dim + e], &value[e]);
    }
  }
}

}  // namespace mote::ref
