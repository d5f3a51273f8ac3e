// SPDX-License-Identifier: Apache-2.0
//
// Stores keys and values in a cache of i8: each head of a row is quantized as a group by itself.
#include <assert.h>

#include "kernels/reference/kv_cache.inl.h"
#include "kernels/reference/quantize.inl.h"

namespace mote::ref {
namespace {

/// Stores head g of row t in the cache, as a Key or Value.
template <class Place>
void store_head(const QuantizeArgs& rows, uint32_t t, uint32_t g, uint32_t columns, const Place& to) {
  const uint32_t first = g * columns;
  const GroupScale group = group_scale(rows, t, first, columns);
  store_scale(group.scale, &to.scale());
  for (uint32_t e = 0; e < columns; ++e) to.store(e, quantized(rows, t, first + e, group));
}

}  // namespace

void kv_store_f32_i8(const KvStoreArgs& args, Range rows, void*) {
  const KvCacheView& cache = args.cache;
  assert(cache.page_positions % 16 == 0 && cache.key_dim % 4 == 0 && cache.value_dim % 4 == 0);
  const QuantizeArgs k = {cache.kv_heads * cache.key_dim, nullptr, args.k, nullptr, 0};
  const QuantizeArgs v = {cache.kv_heads * cache.value_dim, nullptr, args.v, nullptr, 0};
  for (uint32_t t = rows.begin; t < rows.end; ++t) {
    const uint32_t position = static_cast<uint32_t>(args.positions[t]);
    const uint32_t sequence = static_cast<uint32_t>(args.sequences[t]);
    for (uint32_t g = 0; g < cache.kv_heads; ++g) {
      store_head(k, t, g, cache.key_dim, key_at<KvQuad>(cache, sequence, g, position));
      store_head(v, t, g, cache.value_dim, value_at<KvQuad>(cache, sequence, g, position));
    }
  }
}

}  // namespace mote::ref
