// SPDX-License-Identifier: Apache-2.0
//
// Attention of one query head over a segment of the cache by online softmax, a tile of kAttentionTile
// positions after the other (Milakov and Gimelshein 2018):
//   s[p] = score(scale * (q . k[p]), p);  m' = max(m, max s);  w[p] = exp(s[p] - m')
//   sum = sum * exp(m - m') + w[p] + ...;  out = out * exp(m - m') + w[p] v[p] + ...
// A NaN score never becomes the maximum, but its weight is NaN and so are sum and out.
#pragma once

#include <math.h>

#include "kernels/reference/attention_segments.inl.h"
#include "kernels/reference/element.inl.h"
#include "kernels/reference/kv_cache.inl.h"
#include "kernels/trimmed_build.h"

namespace mote::ref {

/// A query head: q [E].
struct Query {
  const float* q;
  size_t row, head;
  uint32_t sequence, kv_head;
};

/// The products of ScoreKind::relative.
template <class Element>
static inline float relative_product(const AttentionArgs& args, const Query& query, const Key<Element>& key,
                                     uint32_t p) {
  const uint32_t key_dim = args.cache.key_dim;
  const size_t columns = relative_columns(args);
  const int32_t position = args.positions[query.row];
  float sum = 0.0f;
  if (args.relative_keys != nullptr) {
    const float* keys = relative_of_head(args, args.relative_keys, query.head, position) + p;
    for (uint32_t e = 0; e < key_dim; ++e) sum = __builtin_fmaf(query.q[e], keys[e * columns], sum);
  }
  if (args.relative_queries != nullptr) {
    const float* queries = relative_of_head(args, args.relative_queries, query.head, position) + p;
    for (uint32_t e = 0; e < key_dim; ++e) sum = __builtin_fmaf(queries[e * columns], load(key[e]), sum);
  }
  return sum;
}

/// Returns the score that the scaled product with the key at position p becomes (ScoreKind).
template <class Element>
static inline float score_of(const AttentionArgs& args, const Query& query, const Key<Element>& key,
                             uint32_t p, float scaled) {
  const int32_t position = args.positions[query.row];
  const auto built = [](ScoreKind kind) { return has_score(static_cast<unsigned>(kind)); };
  switch (args.score) {
    case ScoreKind::scaled:
      return scaled;
    case ScoreKind::biased:
      if (!built(ScoreKind::biased)) break;
      return scaled + bias_of_head(args, query.head, query.row)[p];
    case ScoreKind::capped:
      if (!built(ScoreKind::capped)) break;
      return args.softcap * tanhf(scaled / args.softcap);
    case ScoreKind::alibi:
      if (!built(ScoreKind::alibi)) break;
      return scaled + alibi(args.slopes[query.head], static_cast<int32_t>(p) - position);
    case ScoreKind::alibi_bf16:
      if (!built(ScoreKind::alibi_bf16)) break;
      return scaled + args.scale * alibi_bf16(args.slopes[query.head], static_cast<int32_t>(p));
    case ScoreKind::blocks:
    case ScoreKind::globals:
      if (!built(ScoreKind::blocks) && !built(ScoreKind::globals)) break;
      return scaled + sparse_bias(args, sparse_row(args, query.row), p);
    case ScoreKind::relative:
      if (!built(ScoreKind::relative)) break;
      scaled += args.scale * relative_product(args, query, key, p);
      return args.bias == nullptr ? scaled : scaled + bias_of_head(args, query.head, query.row)[p];
  }
  return scaled;
}

/// The softmax over `positions` of one segment, at least one, begun with `start`, tile by tile:
/// score(begin, end, maximum) computes the scores of a tile and gives the largest of them and of `maximum`,
/// add(begin, end, maximum, sum) adds the values by their weights to out and the weights to `sum`.
template <float (*exponential)(float), class Score, class Add>
static inline void attend_tiles(uint32_t value_dim, PositionRange positions, SoftmaxStart start,
                                const Softmax& result, const Score& score, const Add& add) {
  float* out = result.out;
  for (uint32_t e = 0; e < value_dim; ++e) out[e] = 0.0f;
  float maximum = start.max;
  float sum = start.sum;
  for (uint32_t begin = positions.begin; begin < positions.end;) {
    const uint32_t tile_end = (begin / kAttentionTile + 1) * kAttentionTile;
    const uint32_t end = tile_end < positions.end ? tile_end : positions.end;
    const float new_maximum = score(begin, end, maximum);
    const float rescale = exponential(maximum - new_maximum);
    maximum = new_maximum;
    for (uint32_t e = 0; e < value_dim; ++e) out[e] *= rescale;
    sum = add(begin, end, maximum, sum * rescale);
    begin = end;
  }
  *result.max = maximum;
  *result.sum = sum;
}

/// `positions` of one segment; scores [kAttentionTile] is scratch.
template <class Element>
static inline void attend(const AttentionArgs& args, const Query& query, PositionRange positions,
                          SoftmaxStart start, const Softmax& result, float* scores) {
  const uint32_t key_dim = args.cache.key_dim, value_dim = args.cache.value_dim;
  const auto score = [&](uint32_t begin, uint32_t end, float maximum) {
    for (uint32_t p = begin; p < end; ++p) {
      const Key<Element> key = key_at<Element>(args.cache, query.sequence, query.kv_head, p);
      float dot = 0.0f;
      for (uint32_t e = 0; e < key_dim; ++e) {
        dot = __builtin_fmaf(query.q[e], load(key[e]), dot);
      }
      scores[p - begin] = score_of(args, query, key, p, args.scale * dot);
      if (scores[p - begin] > maximum) maximum = scores[p - begin];
    }
    return maximum;
  };
  const auto add = [&](uint32_t begin, uint32_t end, float maximum, float sum) {
    float* out = result.out;
    for (uint32_t p = begin; p < end; ++p) {
      const Value<Element> value = value_at<Element>(args.cache, query.sequence, query.kv_head, p);
      const float weight = expf(scores[p - begin] - maximum);
      sum += weight;
      for (uint32_t e = 0; e < value_dim; ++e) out[e] = __builtin_fmaf(weight, load(value[e]), out[e]);
    }
    return sum;
  };
  attend_tiles<expf>(value_dim, positions, start, result, score, add);
}

/// Scores of a tile, and a partial.
constexpr uint64_t attention_scratch(const ScratchShape& shape) {
  return align_up((kAttentionTile + attention_partial_floats(shape.value_dim)) * sizeof(float), kAlignment);
}

/// All segments of one query, folded; attend_one is `attend` or computes the same.
template <auto attend_one>
static inline void attend_all(const AttentionArgs& args, const Query& query, PositionRange seen, float* out,
                              float* scratch) {
  const uint32_t value_dim = args.cache.value_dim;
  const Softmax partial = softmax_at(scratch + kAttentionTile, value_dim);
  float max, sum;
  const Softmax total = {out, &max, &sum};
  const uint32_t first = seen.begin / kAttentionSegment;
  attend_one(args, query, seen_of_segment(seen, first), start_of(args, query.head, true), total, scratch);
  for (uint32_t segment = first + 1; segment * kAttentionSegment < seen.end; ++segment) {
    if (!sees_segment(args, query.row, segment)) continue;
    attend_one(args, query, seen_of_segment(seen, segment), start_of(args, query.head, false), partial,
               scratch);
    fold(total, partial, value_dim);
  }
  divide(total, value_dim);
}

template <auto attend_one>
static inline void attention_by(const AttentionArgs& args, Range units, float* scratch) {
  const uint32_t key_dim = args.cache.key_dim, value_dim = args.cache.value_dim;
  const uint32_t heads_per_kv_head = args.heads / args.cache.kv_heads;
  const uint32_t blocks = (args.rows + kAttentionRowBlock - 1) / kAttentionRowBlock;
  const uint32_t segments = args.segments == 0 ? 1 : args.segments;
  for (uint32_t unit = units.begin; unit < units.end; ++unit) {
    const uint32_t segment = unit % segments;
    const uint32_t kv_head = unit / segments / blocks;
    const uint32_t first_row = unit / segments % blocks * kAttentionRowBlock;
    for (uint32_t t = first_row; t < args.rows && t < first_row + kAttentionRowBlock; ++t) {
      if (!attends(args, t)) continue;
      const PositionRange seen = seen_by(args, t);
      for (uint32_t i = 0; i < heads_per_kv_head; ++i) {
        const size_t head = kv_head * heads_per_kv_head + i;
        const Query query = {args.q[t] + head * key_dim, t, head, static_cast<uint32_t>(args.sequences[t]),
                             kv_head};
        if (args.segments == 0) {
          attend_all<attend_one>(args, query, seen, args.out[t] + head * value_dim, scratch);
        } else if (const PositionRange some = seen_of_segment(seen, segment); !some.empty()) {
          float* partial = partials_of(args, t, head) + segment * attention_partial_floats(value_dim);
          const bool first = segment == seen.begin / kAttentionSegment;
          attend_one(args, query, some, start_of(args, head, first), softmax_at(partial, value_dim), scratch);
        }
      }
    }
  }
}

template <class Element>
static inline void attention(const AttentionArgs& args, Range units, float* scratch) {
  attention_by<attend<Element>>(args, units, scratch);
}

}  // namespace mote::ref
