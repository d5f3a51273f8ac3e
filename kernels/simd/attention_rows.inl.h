// SPDX-License-Identifier: Apache-2.0
//
// The work of the rows of an attention work unit on one tile of positions: the scores, and the weighted sum
// of the values.
#pragma once

#include <type_traits>

#include "kernels/simd/attention_scores.inl.h"
#include "kernels/simd/attention_tile.inl.h"
#include "kernels/simd/attention_weights_i8.inl.h"

namespace mote {
namespace {

constexpr uint32_t kLineFloats = kAlignment / sizeof(float);  // of a cache line

/// The positions of a tile that a row sees.
struct Visible {
  PositionRange span;  // from the tile's first position
  bool first;          // no earlier tile of the segment has any
  bool last;           // no later tile has any, nor another segment
  bool begins_like(const Visible& other) const {
    return !span.empty() && span.begin == other.span.begin && first == other.first;
  }
};

static inline Visible visible(const PositionRange& seen, uint32_t tile) {
  PositionRange span = {seen.begin > tile ? seen.begin - tile : 0, seen.end > tile ? seen.end - tile : 0};
  if (span.end > kAttentionTile) span.end = kAttentionTile;
  const bool only_segment = seen.begin / kAttentionSegment == tile / kAttentionSegment;
  return {span, seen.begin >= tile || tile % kAttentionSegment == 0,
          only_segment && seen.end <= tile + kAttentionTile};
}

/// Neighbouring rows of one sequence that see the same positions: all rows of an encoder's sequence, a single
/// row of a causal prompt.
struct RowRun {
  uint32_t begin, end;
  PositionRange seen;
  SparseRow sparse;  // what any of them sees, of a sparse kind
  uint32_t first_segment() const { return seen.begin / kAttentionSegment; }
};

/// The rows of a work unit and one KV head of them. Scratch holds the scores [rows * heads][kAttentionTile],
/// the running maximum and sum of each query, and partials of one segment.
template <class V>
struct RowBlock {
  uint32_t kv_head;
  uint32_t begin;  // row
  uint32_t heads;  // of a row that read the KV head
  RowRun runs[kAttentionRowBlock];
  uint32_t run_count;
  float* scores;
  float* max;
  float* sum;
  float* partials;
  typename V::Query* queries;  // [rows * heads][E / V::kPacked + V::kQueryTail], where they are packed
  const void* next_keys;       // that the next unit begins with; null: none
};

/// Where the softmax of a query over a segment goes: to its partials, or at once to the output if it is the
/// first of a unit that walks all.
template <class V>
static inline Softmax softmax_of(const AttentionArgs& args, const RowBlock<V>& block, const RowRun& run,
                                 uint32_t row, uint32_t head, uint32_t segment) {
  const uint32_t width = args.cache.value_dim;
  const uint32_t own_head = block.kv_head * block.heads + head;
  if (args.segments != 0) {
    return softmax_at(partials_of(args, row, own_head) + segment * attention_partial_floats(width), width);
  }
  const size_t query = (row - block.begin) * block.heads + head;
  if (segment != run.first_segment()) {
    return softmax_at(block.partials + query * attention_partial_floats(width), width);
  }
  return {args.out[row] + own_head * width, &block.max[query], &block.sum[query]};
}

/// A tile of one sequence and KV head.
template <class T>
struct Tile {
  uint32_t begin;  // position
  const T* keys;
  const T* values;
};

/// step(number of queries as a constant) until all are taken: V::kQueries or kFewQueries at a time, then the
/// rest.
template <class V, class Step>
static inline void each_group(uint32_t queries, const Step& step) {
  using std::integral_constant;
  for (; queries >= V::kQueries; queries -= V::kQueries) step(integral_constant<uint32_t, V::kQueries>());
  if (V::kQueries > kFewQueries && queries >= kFewQueries) {
    step(integral_constant<uint32_t, kFewQueries>());
    queries -= kFewQueries;
  }
  if (queries == 3) step(integral_constant<uint32_t, 3>());
  if (queries == 2) step(integral_constant<uint32_t, 2>());
  if (queries == 1) step(integral_constant<uint32_t, 1>());
}

/// Scores of rows [first, end), all of one sequence, over the span of the tile that any of them sees.
template <class V, class T>
static void score_rows(const AttentionArgs& args, const RowBlock<V>& block, uint32_t first, uint32_t end,
                       PositionRange span, const Tile<T>& tile) {
  const uint32_t width = args.cache.key_dim / V::kPacked;
  const uint32_t queries = (end - first) * block.heads;
  [[maybe_unused]] uint32_t row = first, head = 0;
  uint32_t begin = 0;
  each_group<V>(queries, [&](auto count) MOTE_INLINE {
    const size_t in_block = (first - block.begin) * block.heads + begin;
    const typename V::Query* q[count];
    for (uint32_t i = 0; i < count; ++i) {
      if constexpr (V::kPacked == 1) {
        q[i] = args.q[row] + (block.kv_head * block.heads + head) * width;
        if (++head == block.heads) {
          head = 0;
          ++row;
        }
      } else {
        q[i] = block.queries + (in_block + i) * (width + V::kQueryTail);
      }
    }
    float* scores = block.scores + in_block * kAttentionTile;
    // Only the first queries prefetch; the others find the lines in the cache.
    const FetchAhead<T> ahead = {begin == 0 ? tile.values : tile.keys};
    if (count < kFewQueries || begin == 0) {
      score_span<V, count, V::blocks(count)>(q, tile.keys, ahead, width, args.scale, span, scores);
    } else {
      score_span<V, count, V::blocks(count)>(q, tile.keys, FetchNothing(), width, args.scale, span, scores);
    }
    begin += count;
  });
}

constexpr float kGoOn[kMaxQueries] = {1, 1, 1, 1, 1, 1, 1, 1};

/// Adds the weighted values of the positions from `begin` to end[i] to the output of query i, for Q queries:
/// together over the positions that all of them see, then over the rest with half as many queries at a time.
/// A weight of 0 cannot stand for an invisible position, because a later row may have stored a NaN there.
template <class V, uint32_t Q, class T, class Ahead>
static void weigh_seen(const float* scores, const Softmax* softmax, const float* factors, bool last,
                       uint32_t begin, const uint32_t* end, const T* values, const Ahead& ahead,
                       uint32_t width) {
  uint32_t least = end[0], most = end[0];
  for (uint32_t i = 1; i < Q; ++i) {
    if (end[i] < least) least = end[i];
    if (end[i] > most) most = end[i];
  }
  const bool whole = least == most;
  // An element that holds two positions is added as a whole or in halves. Which of the two must not depend on
  // the other queries of the group, because the results differ in bits.
  if (!whole) least -= least % V::kPacked;
  if (least > begin) {
    weigh_values<V, Q, V::blocks(Q) * V::kVectors>(scores, values, ahead, width, {begin, least},
                                                   {softmax, factors, last && whole, 0});
    factors = kGoOn;
    begin = least;
  } else if (last && whole) {
    for (uint32_t i = 0; i < Q; ++i) divide(softmax[i], width);
  }
  if constexpr (Q > 1) {
    constexpr uint32_t kHalf = Q / 2;
    if (whole) return;
    weigh_seen<V, kHalf>(scores, softmax, factors, last, begin, end, values, FetchNothing(), width);
    weigh_seen<V, Q - kHalf>(scores + kHalf * kAttentionTile, softmax + kHalf,
                             factors == nullptr ? nullptr : factors + kHalf, last, begin, end + kHalf, values,
                             FetchNothing(), width);
  }
}

/// Turns the scores of Q queries into weights and adds the weighted values of a tile to the outputs. `last`:
/// no query sees another tile, and the outputs are divided by the sums.
template <class V, uint32_t Q, class T, class Ahead>
static void weigh_floats(float* scores, const QuerySpans& spans, const Softmax* softmax, bool first,
                         bool last, const Tile<T>& tile, const Ahead& ahead, uint32_t width) {
  float factors[Q];
  weigh_scores<V, Q>(scores, spans, softmax, factors);
  weigh_seen<V, Q>(scores, softmax, first ? nullptr : factors, last, spans.shared.begin, spans.end,
                   tile.values, ahead, width);
}

/// Weighs as weigh_floats() does, with weights as bytes: together over all positions that any of the queries
/// sees.
template <class V, uint32_t Q, class T, class Ahead>
static void weigh_bytes(float* scores, const QuerySpans& spans, const Softmax* softmax, bool first, bool last,
                        const Tile<T>& tile, const Ahead& ahead, uint32_t width) {
  float factors[Q], steps[Q];
  const uint32_t block_elems = kBlock * elements_of<V>(width);
  for (uint32_t block = spans.shared.begin / kBlock; block * kBlock < spans.last_end; ++block)
    ahead.template prefetch<kBlock>(block * block_elems);  // scales: weighing asks for the quads behind them
  weigh_scores_to_bytes<V, Q>(scores, tile.values, width, spans, softmax, factors, steps);
  const PositionRange quads = {spans.shared.begin / V::kPacked,
                               (spans.last_end + V::kPacked - 1) / V::kPacked};
  weigh_values_by_quads<V, Q, V::blocks(Q) * V::kVectors>(
      scores, tile.values, ahead, width, quads, {softmax, first ? nullptr : factors, last, 0}, steps);
}

/// Calls weigh_floats or weigh_bytes. The last tile divides the outputs and sets the sums to 1.
template <class V, uint32_t Q, class T, class Ahead>
static void weigh_group(float* scores, const QuerySpans& spans, const Softmax* softmax, bool first, bool last,
                        const Tile<T>& tile, const Ahead& ahead, uint32_t width) {
  if constexpr (V::kScales == 0) {
    weigh_floats<V, Q>(scores, spans, softmax, first, last, tile, ahead, width);
  } else {
    weigh_bytes<V, Q>(scores, spans, softmax, first, last, tile, ahead, width);
  }
  for (uint32_t i = 0; i < Q && last; ++i) *softmax[i].sum = 1.0f;
}

/// Prefetches the output of a query before its first tile: stores that miss the cache wait for one another.
/// Always inline, because GCC removes calls of a function that only prefetches.
MOTE_INLINE static inline void ask_for_output(const Softmax& softmax, uint32_t width) {
  for (uint32_t column = 0; column < width; column += kLineFloats)
    __builtin_prefetch(softmax.out + column, 1, 3);
}

/// Runs [first, end), which begin to see the tile at the same position. visible[0] is the first one's;
/// `ahead` is what is needed next, the tile's own values if that has been asked for.
template <class V, class T>
static void weigh_runs(const AttentionArgs& args, const RowBlock<V>& block, const RowRun* first,
                       const RowRun* end, const Visible* visible, const Tile<T>& tile, FetchAhead<T> ahead) {
  const uint32_t width = args.cache.value_dim, segment = tile.begin / kAttentionSegment;
  const uint32_t queries = (end[-1].end - first->begin) * block.heads;
  const bool first_tile = visible->first;
  float* scores = block.scores + (first->begin - block.begin) * block.heads * size_t{kAttentionTile};
  const RowRun* run = first;
  const Visible* own = visible;
  uint32_t row = run->begin, head = 0;
  each_group<V>(queries, [&](auto count) MOTE_INLINE {
    QuerySpans spans = {{0, kAttentionTile}, {}, 0};
    Softmax softmax[count];
    bool last = args.segments == 0;
    for (uint32_t i = 0; i < count; ++i) {
      softmax[i] = softmax_of(args, block, *run, row, head, segment);
      if (first_tile) {
        ask_for_output(softmax[i], width);
        const SoftmaxStart start =
            start_of(args, block.kv_head * block.heads + head, segment == run->first_segment());
        *softmax[i].max = start.max;
        *softmax[i].sum = start.sum;
      }
      if (args.score != ScoreKind::scaled) {
        finish_scores<V>(args, row, block.kv_head * block.heads + head, tile.begin, tile.keys, own->span,
                         scores + i * kAttentionTile);
      }
      last = last && own->last;
      spans.shared.begin = own->span.begin;
      spans.end[i] = own->span.end;
      if (own->span.end < spans.shared.end) spans.shared.end = own->span.end;
      if (own->span.end > spans.last_end) spans.last_end = own->span.end;
      if (++head != block.heads) continue;
      head = 0;
      if (++row != run->end) continue;
      ++run;
      ++own;
    }
    if (count < kFewQueries || ahead.elements != tile.values) {
      weigh_group<V, count>(scores, spans, softmax, first_tile, last, tile, ahead, width);
    } else {
      weigh_group<V, count>(scores, spans, softmax, first_tile, last, tile, FetchNothing(), width);
    }
    scores += count * kAttentionTile;
    ahead.elements = tile.values;
  });
}

}  // namespace
}  // namespace mote
