// SPDX-License-Identifier: Apache-2.0
//
// Stores k[t] and v[t] at positions[t] over the vectors V (floats.h, ints.h): the same bits as the reference.
// The layouts are those of attention_ops.h.
//
// f32, f16: the elements of a key lie 16 elements apart, so a single token takes a store for each element. As
// many neighbouring tokens as V has lanes fill part of a block: their keys are transposed, a vector of
// columns at a time, and stored as whole vectors. Values are contiguous.
//
// i8: each head is read twice, for its largest magnitude and for rounding. A key is stored by quads. A value
// is stored by bytes, because another thread may store the other bytes of its quads.
#pragma once

#include <assert.h>
#include <string.h>

#include "kernels/simd/quantize.inl.h"

namespace mote {
namespace {

constexpr uint32_t kKeyStep = 16;  // elements from one column of a key to the next

/// Columns [begin, width) of one key or value, `step` elements apart.
template <class V, class T>
inline void store_columns(const float* from, uint32_t begin, uint32_t width, T* to, uint32_t step) {
  for (uint32_t e = begin; e < width; e += V::kLanes) {
    const uint32_t count = width - e < V::kLanes ? width - e : V::kLanes;
    T elements[V::kLanes];
    V::store(elements, V::load_first(from + e, count));
    if (step == 1) {
      memcpy(to + e, elements, count * sizeof(T));
    } else {
      for (uint32_t i = 0; i < count; ++i) to[(e + i) * step] = elements[i];
    }
  }
}

/// Keys of kLanes tokens in a row, the first of which goes to `to`.
template <class V, class T>
inline void store_neighbours(ConstRows k, uint32_t row, uint32_t column, uint32_t width, T* to) {
  uint32_t e = 0;
  for (; e + V::kLanes <= width; e += V::kLanes) {
    typename V::Float x[V::kLanes];
    MOTE_UNROLL for (uint32_t i = 0; i < V::kLanes; ++i) x[i] = V::load(k[row + i] + column + e);
    V::transpose(x);
    MOTE_UNROLL for (uint32_t i = 0; i < V::kLanes; ++i) V::store(to + (e + i) * kKeyStep, x[i]);
  }
  for (uint32_t i = 0; i < V::kLanes; ++i) store_columns<V>(k[row + i] + column, e, width, to + i, kKeyStep);
}

/// Says whether the `count` rows from `row` on are neighbours whose first position is a multiple of `count`.
static inline bool are_neighbours(const KvStoreArgs& args, uint32_t row, uint32_t end, uint32_t count) {
  if (end - row < count || args.positions[row] % static_cast<int32_t>(count) != 0) return false;
  for (uint32_t i = 1; i < count; ++i) {
    if (args.sequences[row + i] != args.sequences[row]) return false;
    if (args.positions[row + i] != args.positions[row] + static_cast<int32_t>(i)) return false;
  }
  return true;
}

/// The place of a token: the number of its page, and the position in that page.
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

template <class V, class T>
void kv_store(const KvStoreArgs& args, Range rows, void*) {
  static_assert(CheckInts<V>::kPasses);
  const KvCacheView& cache = args.cache;
  assert(cache.page_positions % kKeyStep == 0);
  const uint32_t key_dim = cache.key_dim, value_dim = cache.value_dim;
  for (uint32_t t = rows.begin, next; t < rows.end; t = next) {
    const bool several = are_neighbours(args, t, rows.end, V::kLanes);
    next = t + (several ? V::kLanes : 1);
    const KvPlace at = place_of(args, t);
    for (uint32_t g = 0; g < cache.kv_heads; ++g) {
      const size_t start = cache.head_of_page(at.page, g) * cache.page_positions;
      T* key = static_cast<T*>(cache.keys) + (start + at.place / kKeyStep * kKeyStep) * key_dim +
               at.place % kKeyStep;
      if (several) {
        store_neighbours<V>(args.k, t, g * key_dim, key_dim, key);
      } else {
        store_columns<V>(args.k[t] + g * key_dim, 0, key_dim, key, kKeyStep);
      }
      T* value = static_cast<T*>(cache.values) + (start + at.place) * value_dim;
      for (uint32_t i = t; i < next; ++i, value += value_dim)
        store_columns<V>(args.v[i] + g * value_dim, 0, value_dim, value, 1);
    }
  }
}

// ---- i8 ----

/// Stores the scale of one head, then calls step(column, bytes [32], count) for every 32 columns of it; the
/// last call may have fewer.
template <class V, class Step>
inline void each_group_of_bytes(const float* x, uint32_t width, KvQuad* scale, const Step& step) {
  const GroupScale head = scale_of(V::max_lanes(largest_of_row<V>(x, nullptr, width)));
  const typename V::Float by = V::set(head.inverse);
  memcpy(scale, &head.scale, sizeof head.scale);
  each_group<V>(x, nullptr, width, width, [&](size_t column, const auto& group) MOTE_INLINE {
    alignas(kGroupColumns) int8_t bytes[kGroupColumns];
    V::store(bytes, V::unless_zero(by, V::round_to_bytes(group, by)));
    const size_t left = width - column;
    if (left >= kGroupColumns) {
      step(column, bytes, kGroupColumns);
    } else {
      step(column, bytes, static_cast<uint32_t>(left));
    }
  });
}

/// `to` is where the scale goes; the quads follow, kKeyStep apart.
template <class V>
inline void store_key_i8(const float* x, uint32_t width, KvQuad* to) {
  each_group_of_bytes<V>(x, width, to, [to](size_t e, const int8_t* bytes, uint32_t count) MOTE_INLINE {
    KvQuad* at = to + (1 + e / 4) * kKeyStep;
    for (uint32_t i = 0; i < count; i += 4, at += kKeyStep) {
      uint32_t quad;
      memcpy(&quad, bytes + i, sizeof quad);
      quad ^= 0x80808080u;  // 128 more
      memcpy(at, &quad, sizeof quad);
    }
  });
}

/// To byte `place` of each quad.
template <class V>
inline void store_value_i8(const float* x, uint32_t width, uint32_t place, KvQuad* scale, KvQuad* to) {
  uint8_t* first = &to->bytes[place];
  each_group_of_bytes<V>(x, width, scale, [first](size_t e, const int8_t* bytes, uint32_t count) MOTE_INLINE {
    uint8_t* at = first + e * sizeof(KvQuad);
    for (uint32_t i = 0; i < count; ++i) at[i * sizeof(KvQuad)] = static_cast<uint8_t>(bytes[i]);
  });
}

template <class V>
void kv_store_i8(const KvStoreArgs& args, Range rows, void*) {
  static_assert(CheckInts<V>::kPasses);
  const KvCacheView& cache = args.cache;
  const uint32_t key_dim = cache.key_dim, value_dim = cache.value_dim;
  assert(cache.page_positions % kKeyStep == 0 && key_dim % 4 == 0 && value_dim % 4 == 0);
  for (uint32_t t = rows.begin; t < rows.end; ++t) {
    const KvPlace at = place_of(args, t);
    const uint32_t place = at.place % kKeyStep;
    for (uint32_t g = 0; g < cache.kv_heads; ++g) {
      const size_t start = cache.head_of_page(at.page, g) * cache.page_positions + at.place - place;
      KvQuad* keys = static_cast<KvQuad*>(cache.keys) + start * (1 + key_dim / 4);
      KvQuad* values = static_cast<KvQuad*>(cache.values) + start * (1 + value_dim / 4);
      store_key_i8<V>(args.k[t] + g * key_dim, key_dim, keys + place);
      store_value_i8<V>(args.v[t] + g * value_dim, value_dim, place % 4, values + place,
                        values + kKeyStep + place / 4 * value_dim);
    }
  }
}

}  // namespace
}  // namespace mote
