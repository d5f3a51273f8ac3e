// SPDX-License-Identifier: Apache-2.0
//
// Attention over a cache of i8, four positions at a time. Products are of floats and of the bytes as they are
// stored; the scale of a key multiplies the sum, that of a value the weight. The reference multiplies the
// bytes by the scale first: each score and each weight is rounded once more or less.
#pragma once

#include "kernels/cortex_m/elementary.inl.h"
#include "kernels/reference/attention.inl.h"

namespace mote::cortex_m {

inline constexpr uint32_t kAttentionPositions = 4;  // at a time, from a multiple of it on

// Quads of a processor:
//   dots(q, keys, columns, dots)          the products of a query with four keys
//   weigh(scores, count, maximum)         scores become exp(score - maximum); returns their sum
//   add(weights, values, columns, out)    adds four weighted values to out

/// The scores of the positions [begin, end) of a tile; the largest of them and of `maximum`.
template <class Quads>
static inline float scores_of(const AttentionArgs& args, const ref::Query& query, uint32_t begin,
                              uint32_t end, float maximum, float* scores) {
  for (uint32_t group = begin / kAttentionPositions * kAttentionPositions; group < end;
       group += kAttentionPositions) {
    const ref::Key<KvQuad> key = ref::key_at<KvQuad>(args.cache, query.sequence, query.kv_head, group);
    float dots[kAttentionPositions];
    Quads::dots(query.q, key.block + 16 + key.place, args.cache.key_dim, dots);
    for (uint32_t i = 0; i < kAttentionPositions; ++i) {
      const uint32_t p = group + i;
      if (p < begin || p >= end) continue;
      const float dot = dots[i] * ref::load_scale(key.block[key.place + i]);
      const ref::Key<KvQuad> own = {key.block, key.place + i};
      const float score = ref::score_of(args, query, own, p, args.scale * dot);
      scores[p - begin] = score;
      if (score > maximum) maximum = score;
    }
  }
  return maximum;
}

/// Adds the weighted values of the positions [begin, end) of a tile to out.
template <class Quads>
static inline void add_values(const AttentionArgs& args, const ref::Query& query, uint32_t begin,
                              uint32_t end, const float* weights, float* out) {
  const uint32_t value_dim = args.cache.value_dim;
  for (uint32_t group = begin / kAttentionPositions * kAttentionPositions; group < end;
       group += kAttentionPositions) {
    const ref::Value<KvQuad> value = ref::value_at<KvQuad>(args.cache, query.sequence, query.kv_head, group);
    float scaled[kAttentionPositions] = {};
    for (uint32_t i = 0; i < kAttentionPositions; ++i) {
      const uint32_t p = group + i;
      if (p < begin || p >= end) continue;
      scaled[i] = weights[p - begin] * ref::load_scale(value.block[value.place + i]);
    }
    Quads::add(scaled, value.block + 16 + value.place / 4 * value_dim, value_dim, out);
  }
}

/// Attends, as ref::attend does, to keys and values of i8. Out of line: it is called in three places.
template <class Quads>
[[gnu::noinline]] static void attend(const AttentionArgs& args, const ref::Query& query,
                                     PositionRange positions, SoftmaxStart start, const Softmax& result,
                                     float* scores) {
  ref::attend_tiles<exp_not_large>(
      args.cache.value_dim, positions, start, result,
      [&](uint32_t begin, uint32_t end, float maximum) {
        return scores_of<Quads>(args, query, begin, end, maximum, scores);
      },
      [&](uint32_t begin, uint32_t end, float maximum, float sum) {
        sum += Quads::weigh(scores, end - begin, maximum);
        add_values<Quads>(args, query, begin, end, scores, result.out);
        return sum;
      });
}

}  // namespace mote::cortex_m
