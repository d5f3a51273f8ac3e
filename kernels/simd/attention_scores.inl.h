// SPDX-License-Identifier: Apache-2.0
//
// Turns scaled scores into the scores of a ScoreKind before the softmax, over the vectors V: a pass over the
// scores of one query and tile, which takes 1 / (2 E) of the work of the scores, and several times that for
// tanh.
//
// Against the reference: the same bits, but for capped scores, which are within 5 ulp (tanh and a product).
#pragma once

#include <type_traits>

#include "kernels/reference/attention_segments.inl.h"
#include "kernels/reference/element.inl.h"
#include "kernels/reference/kv_cache.inl.h"
#include "kernels/simd/elementary.inl.h"

namespace mote {
namespace {

/// Scores and bias are the tile's; of both the span alone is read.
template <class V>
static inline void add_bias(float* scores, const float* bias, PositionRange span) {
  for (uint32_t at = span.begin; at < span.end; at += V::kLanes) {
    const uint32_t left = span.end - at;
    V::store_first(scores + at, left,
                   V::add(V::load_first(scores + at, left), V::load_first(bias + at, left)));
  }
}

template <class V>
static inline void cap_scores(float* scores, float softcap, PositionRange span) {
  const typename V::Float cap = V::set(softcap);
  for (uint32_t at = span.begin; at < span.end; at += V::kLanes) {
    const uint32_t left = span.end - at;
    const typename V::Float score = V::load_first(scores + at, left);
    V::store_first(scores + at, left, V::mul(cap, tanh<V>(V::div(score, cap))));
  }
}

/// kLanes floats of column e of the keys of a block of 16 positions, from `lane` on.
template <class V, class T>
MOTE_INLINE static inline typename V::Float key_lanes(const T* block, uint32_t e, uint32_t lane) {
  if constexpr (V::kPacked == 1) {
    return V::load(block + e * 16 + lane);
  } else {  // not fast: the runtime takes another type of cache where it can
    using Element = typename std::conditional<V::kScales != 0, KvQuad, Bf16>::type;
    alignas(64) float column[V::kLanes];
    for (uint32_t i = 0; i < V::kLanes; ++i) {
      Element* elements = reinterpret_cast<Element*>(const_cast<T*>(block));
      column[i] = ref::load(ref::Key<Element>{elements, lane + i}[e]);
    }
    return V::load(column);
  }
}

/// Adds scale * r of ScoreKind::relative. Scores and keys are the tile's, which begins at position `tile`.
template <class V, class T>
static void add_relative(const AttentionArgs& args, uint32_t row, uint32_t head, uint32_t tile, const T* keys,
                         PositionRange span, float* scores) {
  constexpr uint32_t kVectors = V::kVectors;
  const uint32_t key_dim = args.cache.key_dim;
  const size_t columns = relative_columns(args), block_elems = 16 * (key_dim / V::kPacked + V::kScales);
  const float* q = args.q[row] + head * key_dim;
  const typename V::Float scale = V::set(args.scale);
  const auto of_tile = [&](const float* table) {
    return table == nullptr ? nullptr : relative_of_head(args, table, head, args.positions[row]) + tile;
  };
  const float* const by_query = of_tile(args.relative_keys);
  const float* const by_key = of_tile(args.relative_queries);
  for (uint32_t block = span.begin / 16; block * 16 < span.end; ++block) {
    const uint32_t begin = block * 16;
    typename V::Float sum[kVectors];
    // The lanes of a vector that the row sees lie in the table; the others may lie before or behind it.
    uint32_t first[kVectors], seen[kVectors];
    MOTE_UNROLL for (uint32_t v = 0; v < kVectors; ++v) {
      sum[v] = V::set(0.0f);
      const uint32_t at = begin + v * V::kLanes;
      first[v] = at;
      seen[v] = at < span.end ? span.end - at : 0;
    }
    for (uint32_t e = 0; by_query != nullptr && e < key_dim; ++e) {
      const typename V::Float x = V::set(q[e]);
      MOTE_UNROLL for (uint32_t v = 0; v < kVectors; ++v) {
        sum[v] = V::fma(x, V::load_first(by_query + e * columns + first[v], seen[v]), sum[v]);
      }
    }
    for (uint32_t e = 0; by_key != nullptr && e < key_dim; ++e) {
      MOTE_UNROLL for (uint32_t v = 0; v < kVectors; ++v) {
        sum[v] = V::fma(V::load_first(by_key + e * columns + first[v], seen[v]),
                        key_lanes<V>(keys + block * block_elems, e, v * V::kLanes), sum[v]);
      }
    }
    MOTE_UNROLL for (uint32_t v = 0; v < kVectors; ++v) {
      float* score = scores + first[v];
      V::store_first(score, seen[v], V::add(V::load_first(score, seen[v]), V::mul(scale, sum[v])));
    }
  }
}

/// The scores of a row and head over the span of the tile that starts at position `tile`.
template <class V, class T>
static void finish_scores(const AttentionArgs& args, uint32_t row, uint32_t head, uint32_t tile,
                          const T* keys, PositionRange span, float* scores) {
  const int32_t position = args.positions[row], first = static_cast<int32_t>(tile);
  float by_position[kAttentionTile];
  switch (args.score) {
    case ScoreKind::scaled:
      return;
    case ScoreKind::biased:
      return add_bias<V>(scores, bias_of_head(args, head, row) + tile, span);
    case ScoreKind::capped:
      return cap_scores<V>(scores, args.softcap, span);
    case ScoreKind::alibi:
      for (uint32_t i = span.begin; i < span.end; ++i)
        by_position[i] = alibi(args.slopes[head], first + static_cast<int32_t>(i) - position);
      return add_bias<V>(scores, by_position, span);
    case ScoreKind::alibi_bf16:
      for (uint32_t i = span.begin; i < span.end; ++i)
        by_position[i] = args.scale * alibi_bf16(args.slopes[head], first + static_cast<int32_t>(i));
      return add_bias<V>(scores, by_position, span);
    case ScoreKind::blocks:
    case ScoreKind::globals:
      if (sparse_biases(args, sparse_row(args, row), {tile + span.begin, tile + span.end},
                        by_position + span.begin))
        add_bias<V>(scores, by_position, span);
      return;
    case ScoreKind::relative:
      add_relative<V>(args, row, head, tile, keys, span, scores);
      if (args.bias != nullptr) add_bias<V>(scores, bias_of_head(args, head, row) + tile, span);
      return;
  }
}

}  // namespace
}  // namespace mote
