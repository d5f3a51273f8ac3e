// SPDX-License-Identifier: Apache-2.0
//
// What scaled scores become before the softmax (ScoreKind), over the vectors V: a pass over the scores of one
// query and tile, which takes 1 / (2 E) of the work of the scores, and several times that for tanh.
//
// Against the reference: the same bits, but for capped scores, which are within 5 ulp (tanh and a product).
#pragma once

#include "kernels/reference/attention_segments.inl.h"
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

/// The scores of a row and head over the span of the tile that starts at position `tile`.
template <class V>
static void finish_scores(const AttentionArgs& args, uint32_t row, uint32_t head, uint32_t tile,
                          PositionRange span, float* scores) {
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
  }
}

}  // namespace
}  // namespace mote
