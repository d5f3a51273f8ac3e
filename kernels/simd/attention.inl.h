// SPDX-License-Identifier: Apache-2.0
//
// out = softmax(scale q K^T + bias) V by tiles of 128 positions, for a cache of f32 or f16, converted exactly
// when loaded, of bf16, multiplied in pairs (bf16_512.inl.h), or of i8, in quads (int8_512.inl.h). ops.h has
// the recurrence and the shapes.
//
// A work unit walks the tiles outside and its 16 rows inside: a tile of keys and values (64 KiB at f32, E =
// 64) comes from memory once and from the cache for the other rows. One row alone waits for memory: scoring
// keys fetches the values of the same tile ahead, weighing values the keys of the next. To L2: with a cold
// cache and one row, Zen 4 is 1.3 to 1.5 times as fast as with requests to L1. Many rows wait for their
// queries and outputs, which are as far away: asked for ahead too, they take 512 rows 1.03 to 1.18 times as
// fast.
//
// Against the reference, but for bf16 and i8: scores have the same bits. The weights differ by 2 ulp each
// (exponential) and their sum by n 2^-24 (order), n the positions seen, so out by (n + 8) 2^-24 max |v| at
// most; measured, n up to 4096: 8e-7 max |v|. With bf16 queries and weights are rounded, to 2^-9, and weights
// computed to 2^-13. (Of i8: attention_weights_i8.inl.h.)
#pragma once

#include <assert.h>
#include <float.h>

#include <type_traits>

#include "kernels/simd/attention_tile.inl.h"
#include "kernels/simd/attention_weights_i8.inl.h"

namespace mote {
namespace {

constexpr uint32_t kLineFloats = kAlignment / sizeof(float);  // of a cache line

/// What a row sees of a tile.
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

/// Neighbouring rows of one sequence that see the same positions: those of an encoder's sequence; of a
/// prompt each row alone.
struct RowRun {
  uint32_t begin, end;
  PositionRange seen;
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
};

/// Where the softmax of a query over a segment goes: to its partials, or at once to the output if it is the
/// first of a unit that walks all.
template <class V>
static inline Softmax softmax_of(const AttentionArgs& args, const RowBlock<V>& block, const RowRun& run,
                                 uint32_t row, uint32_t head, uint32_t segment) {
  const uint32_t width = args.cache.head_dim;
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

/// A tile of one sequence and KV head; the keys of the next one follow.
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
  const uint32_t width = args.cache.head_dim / V::kPacked;
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
    // Only the first queries wait for memory; what the others ask for has just been read.
    const FetchAhead<T> ahead = {begin == 0 ? tile.values : tile.keys};
    if (count < kFewQueries || begin == 0) {
      score_span<V, count, V::blocks(count)>(q, tile.keys, ahead, width, args.scale, span, scores);
    } else {
      score_span<V, count, V::blocks(count)>(q, tile.keys, FetchNothing(), width, args.scale, span, scores);
    }
    begin += count;
  });
}

/// The bias of a query over the tile.
static inline const float* tile_bias(const AttentionArgs& args, uint32_t row, uint32_t head, uint32_t tile) {
  const uint32_t to_zero = args.bias_reach - 1 - static_cast<uint32_t>(args.positions[row]);
  return args.bias + head * (2 * static_cast<size_t>(args.bias_reach) - 1) + to_zero + tile;
}

constexpr float kGoOn[kMaxQueries] = {1, 1, 1, 1, 1, 1, 1, 1};

/// Weighs values from position `begin` on into the outputs of Q queries, which end[i] bounds: together over
/// what all of them see, the rest by halves. (A weight of 0 would not hide a NaN that a later row stored.)
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
  // An element is added whole or by halves: how must not depend on the company.
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

/// Scores of Q queries to weights, and the values of a tile weighed into their outputs. `last`: no query sees
/// another tile, and outputs are divided.
template <class V, uint32_t Q, class T, class Ahead>
static void weigh_floats(float* scores, const QuerySpans& spans, const Softmax* softmax, bool first,
                         bool last, const Tile<T>& tile, const Ahead& ahead, uint32_t width) {
  float factors[Q];
  weigh_scores<V, Q>(scores, spans, softmax, factors);
  weigh_seen<V, Q>(scores, softmax, first ? nullptr : factors, last, spans.shared.begin, spans.end,
                   tile.values, ahead, width);
}

/// The same with weights as bytes: together over all that any of them sees.
template <class V, uint32_t Q, class T, class Ahead>
static void weigh_bytes(float* scores, const QuerySpans& spans, const Softmax* softmax, bool first, bool last,
                        const Tile<T>& tile, const Ahead& ahead, uint32_t width) {
  float factors[Q], steps[Q];
  weigh_scores_to_bytes<V, Q>(scores, tile.values, width, spans, softmax, factors, steps);
  const PositionRange quads = {spans.shared.begin / V::kPacked,
                               (spans.last_end + V::kPacked - 1) / V::kPacked};
  weigh_values_by_quads<V, Q, V::blocks(Q) * V::kVectors>(
      scores, tile.values, ahead, width, quads, {softmax, first ? nullptr : factors, last, 0}, steps);
}

/// One or the other. With the last tile divided, the sums become 1.
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

/// The output of a query, before its first tile is weighed: stores that miss wait for one another. Always
/// inline, because GCC drops calls of a function that only prefetches.
MOTE_INLINE static inline void ask_for_output(const Softmax& softmax, uint32_t width) {
  for (uint32_t column = 0; column < width; column += kLineFloats)
    __builtin_prefetch(softmax.out + column, 1, 3);
}

/// Runs [first, end), which begin to see the tile at the same position. visible[0] is the first one's;
/// `ahead` is what is needed next, the tile's own values if that has been asked for.
template <class V, class T>
static void weigh_runs(const AttentionArgs& args, const RowBlock<V>& block, const RowRun* first,
                       const RowRun* end, const Visible* visible, const Tile<T>& tile, FetchAhead<T> ahead) {
  const uint32_t width = args.cache.head_dim, segment = tile.begin / kAttentionSegment;
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
        *softmax[i].max = -FLT_MAX;
        *softmax[i].sum = 0.0f;
      }
      if (args.bias != nullptr) {
        add_bias<V>(scores + i * kAttentionTile,
                    tile_bias(args, row, block.kv_head * block.heads + head, tile.begin), own->span);
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

/// Runs [first, end), all of one sequence, over the tile of positions that starts at `begin`.
template <class V, class T>
static void attend_tile(const AttentionArgs& args, const RowBlock<V>& block, const RowRun* first,
                        const RowRun* end, uint32_t begin) {
  PositionRange all = {kAttentionTile, 0};
  Visible seen[kAttentionRowBlock];
  for (const RowRun* run = first; run < end; ++run) {
    seen[run - first] = visible(run->seen, begin);
    const PositionRange span = seen[run - first].span;
    if (span.empty()) continue;
    if (span.begin < all.begin) all.begin = span.begin;
    if (span.end > all.end) all.end = span.end;
  }
  if (all.empty()) return;

  const KvCacheView& cache = args.cache;
  const size_t head = static_cast<size_t>(args.sequences[first->begin]) * cache.kv_heads + block.kv_head;
  const size_t elements = elements_of<V>(cache.head_dim);
  const size_t start = (head * cache.capacity + begin % cache.capacity) * elements;
  const Tile<T> tile = {begin, static_cast<const T*>(cache.keys) + start,
                        static_cast<const T*>(cache.values) + start};
  FetchAhead<T> ahead = {tile.keys + kAttentionTile * elements};
  score_rows<V>(args, block, first->begin, end[-1].end, all, tile);
  for (const RowRun *run = first, *next; run < end; run = next) {
    const Visible& own = seen[run - first];
    next = run + 1;
    if (own.span.empty()) continue;
    while (next < end && seen[next - first].begins_like(own)) ++next;
    weigh_runs<V>(args, block, run, next, &own, tile, ahead);
    ahead.elements = tile.values;
  }
}

/// What the rows of the block see of the segment.
template <class V, class T>
static void attend_segment(const AttentionArgs& args, const RowBlock<V>& block, uint32_t segment) {
  const RowRun* const end = block.runs + block.run_count;
  PositionRange all = {UINT32_MAX, 0};
  for (const RowRun* run = block.runs; run < end; ++run) {
    const PositionRange seen = seen_of_segment(run->seen, segment);
    if (seen.empty()) continue;
    if (seen.begin < all.begin) all.begin = seen.begin / kAttentionTile * kAttentionTile;
    if (seen.end > all.end) all.end = seen.end;
  }
  for (uint32_t tile = all.begin; tile < all.end; tile += kAttentionTile) {
    for (const RowRun *first = block.runs, *next; first < end; first = next) {
      for (next = first + 1; next < end && args.sequences[next->begin] == args.sequences[first->begin];)
        ++next;
      attend_tile<V, T>(args, block, first, next, tile);
    }
  }
}

/// A work unit, of which `segments` in a row have the same rows and KV head.
struct UnitRows {
  uint32_t kv_head;
  uint32_t begin, end;
};

static inline UnitRows rows_of_unit(const AttentionArgs& args, uint32_t unit) {
  const uint32_t row_blocks = (args.rows + kAttentionRowBlock - 1) / kAttentionRowBlock;
  const uint32_t of_rows = args.segments == 0 ? unit : unit / args.segments;
  const uint32_t begin = of_rows % row_blocks * kAttentionRowBlock, left = args.rows - begin;
  return {of_rows / row_blocks, begin, left < kAttentionRowBlock ? args.rows : begin + kAttentionRowBlock};
}

/// The queries of the next unit: those of many rows have left L2, or lie in that of another core. Always
/// inline, as above.
MOTE_INLINE static inline void ask_for_queries(const AttentionArgs& args, const UnitRows& unit) {
  const uint32_t width = args.heads / args.cache.kv_heads * args.cache.head_dim;
  for (uint32_t row = unit.begin; row < unit.end; ++row) {
    const float* query = args.q[row] + unit.kv_head * width;
    for (uint32_t column = 0; column < width; column += kLineFloats) __builtin_prefetch(query + column, 0, 2);
  }
}

/// Calls each(run, row, head of the block's) for all queries.
template <class V, class Each>
static void each_query(const RowBlock<V>& block, Each each) {
  for (const RowRun* run = block.runs; run < block.runs + block.run_count; ++run) {
    for (uint32_t row = run->begin; row < run->end; ++row) {
      for (uint32_t head = 0; head < block.heads; ++head) each(*run, row, head);
    }
  }
}

/// All segments, folded.
template <class V, class T>
static void attend_all(const AttentionArgs& args, const RowBlock<V>& block) {
  const uint32_t width = args.cache.head_dim;
  PositionRange all = {UINT32_MAX, 0};
  uint32_t least_end = UINT32_MAX;
  for (const RowRun* run = block.runs; run < block.runs + block.run_count; ++run) {
    if (run->seen.begin < all.begin) all.begin = run->seen.begin;
    if (run->seen.end > all.end) all.end = run->seen.end;
    if (run->seen.end < least_end) least_end = run->seen.end;
  }
  const uint32_t first = all.begin / kAttentionSegment;
  uint32_t segment = first;
  do {
    attend_segment<V, T>(args, block, segment);
    if (segment != first) {
      each_query(block, [&](const RowRun& run, uint32_t row, uint32_t head) {
        if (segment <= run.first_segment() || seen_of_segment(run.seen, segment).empty()) return;
        fold(softmax_of(args, block, run, row, head, run.first_segment()),
             softmax_of(args, block, run, row, head, segment), width);
      });
    }
  } while (++segment * kAttentionSegment < all.end);
  const bool same_last_tile = (least_end - 1) / kAttentionTile == (all.end - 1) / kAttentionTile;
  if (segment == first + 1 && same_last_tile) return;  // with which all were divided
  each_query(block, [&](const RowRun& run, uint32_t row, uint32_t head) {
    divide(softmax_of(args, block, run, row, head, run.first_segment()), width);
  });
}

/// The queries of a work unit times the scale, packed as keys are.
template <class V>
static void pack_queries(const AttentionArgs& args, const RowBlock<V>& block, uint32_t end) {
  const uint32_t width = args.cache.head_dim;
  typename V::Query* to = block.queries;
  for (uint32_t row = block.begin; row < end; ++row) {
    const float* from = args.q[row] + block.kv_head * block.heads * width;
    for (uint32_t head = 0; head < block.heads; ++head) {
      V::pack(from, width, args.scale, to);
      from += width;
      to += width / V::kPacked + V::kQueryTail;
    }
  }
}

/// The rows of a unit, and what they see.
template <class V>
static void take_rows(const AttentionArgs& args, const UnitRows& rows, RowBlock<V>* block) {
  block->kv_head = rows.kv_head;
  if (block->run_count != 0 && block->begin == rows.begin) return;  // another head of the same rows
  block->begin = rows.begin;
  block->run_count = 0;
  for (uint32_t row = rows.begin; row < rows.end; ++row) {
    const bool follows = row != rows.begin && args.sequences[row] == args.sequences[row - 1] &&
                         args.last_seen[row] == args.last_seen[row - 1];
    if (follows) {
      block->runs[block->run_count - 1].end = row + 1;
    } else {
      block->runs[block->run_count++] = {row, row + 1, seen_by(args, row)};
    }
  }
}

/// Scores, maximum, sum and the partials of a segment, for each query of a unit; and the query itself, where
/// it is packed.
template <class V, class T>
constexpr uint64_t attention_scratch(const ScratchShape& shape) {
  const uint64_t floats = kAttentionTile + 2 + attention_partial_floats(shape.head_dim);
  const uint64_t query = V::kPacked == 1 ? 0 : shape.head_dim / V::kPacked + V::kQueryTail;
  const uint64_t bytes = floats * sizeof(float) + query * sizeof(typename V::Query);
  return align_up(kAttentionRowBlock * shape.heads_per_kv_head * bytes, kAlignment);
}

template <class V, class T>
static void attention(const AttentionArgs& args, Range units, void* scratch) {
  assert(args.heads % args.cache.kv_heads == 0 && args.cache.capacity % kBlock == 0);
  RowBlock<V> block = {};
  block.heads = args.heads / args.cache.kv_heads;
  const size_t queries = static_cast<size_t>(kAttentionRowBlock) * block.heads;
  block.scores = static_cast<float*>(scratch);
  block.max = block.scores + queries * kAttentionTile;
  block.sum = block.max + queries;
  block.partials = block.sum + queries;
  block.queries = reinterpret_cast<typename V::Query*>(
      block.partials + queries * attention_partial_floats(args.cache.head_dim));
  if (units.begin == units.end) return;
  UnitRows next = rows_of_unit(args, units.begin);
  for (uint32_t unit = units.begin; unit < units.end; ++unit) {
    const UnitRows rows = next;
    take_rows(args, rows, &block);
    if (unit + 1 != units.end) {
      next = rows_of_unit(args, unit + 1);
      ask_for_queries(args, next);
    }
    if constexpr (V::kPacked != 1) pack_queries(args, block, rows.end);
    if (args.segments == 0) {
      attend_all<V, T>(args, block);
    } else {
      attend_segment<V, T>(args, block, unit % args.segments);
    }
  }
}

}  // namespace
}  // namespace mote
