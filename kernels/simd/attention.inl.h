// SPDX-License-Identifier: Apache-2.0
//
// out = softmax(scale q K^T + bias) V by tiles of 128 positions, for a cache of f32 or f16, converted exactly
// when loaded, of bf16, multiplied in pairs (bf16_512.inl.h), or of i8, in quads (int8_512.inl.h).
// attention_ops.h has the recurrence and the shapes.
//
// A work unit has the loop over tiles outside and the loop over its 16 rows inside: a tile of keys and values
// (64 KiB at f32, E = 64) is read from memory once, and from the cache by the other rows. A single row is
// bound by memory: scoring the keys prefetches the values of the same tile, weighing the values prefetches
// the keys of the next tile. The prefetches go to L2, which keeps more requests in flight than L1. With many
// rows the queries and outputs miss the caches as well, and are prefetched, too.
//
// Against the reference, but for bf16 and i8: scores have the same bits where V::kFused, else they are within
// (E + 1) 2^-24 sum |q_e k_e| times the scale, as the reference's are. The weights differ by 2 ulp each
// (exponential) and their sum by n 2^-24 (order), n the positions seen, so out by (n + 8) 2^-24 max |v| at
// most, plus the effect of the difference in scores. With bf16, queries and weights are rounded to 2^-9, and
// weights are computed to 2^-13. attention_weights_i8.inl.h has the bound for i8.
#pragma once

#include <assert.h>

#include "kernels/simd/attention_rows.inl.h"

namespace mote {
namespace {

/// The tile of positions that starts at `begin`; the page table holds a page for it.
template <class V, class T>
static inline Tile<T> tile_at(const KvCacheView& cache, uint32_t sequence, uint32_t kv_head, uint32_t begin) {
  const uint32_t page = cache.page_of(sequence, begin / kAttentionTile);
  assert(page != kNoPage);
  const size_t start = cache.head_of_page(page, kv_head) * cache.page_positions;
  return {begin, static_cast<const T*>(cache.keys) + start * elements_of<V>(cache.key_dim),
          static_cast<const T*>(cache.values) + start * elements_of<V>(cache.value_dim)};
}

/// Says whether the run sees any of the tile. The last tile, which divides the outputs, counts as seen.
static inline bool sees_tile(const AttentionArgs& args, const RowRun& run, uint32_t begin) {
  const uint32_t end = begin + kAttentionTile;
  if (run.seen.begin >= end || run.seen.end <= begin) return false;
  return !is_sparse(args.score) || run.seen.end <= end || sees_any(args, run.sparse, begin, end);
}

static inline bool sees_segment(const AttentionArgs& args, const RowRun& run, uint32_t segment) {
  const uint32_t begin = segment * kAttentionSegment;
  return sees_tile(args, run, begin) || sees_tile(args, run, begin + kAttentionTile);
}

/// Returns the positions of the tile that the run sees. A tile begins a segment where none before it in the
/// segment is seen.
static Visible visible_of(const AttentionArgs& args, const RowRun& run, uint32_t begin) {
  Visible seen = visible(run.seen, begin);
  if (!is_sparse(args.score)) return seen;
  if (!sees_tile(args, run, begin)) seen.span = {0, 0};
  static_assert(kAttentionSegment == 2 * kAttentionTile);
  if (begin % kAttentionSegment != 0) seen.first = !sees_tile(args, run, begin - kAttentionTile);
  return seen;
}

/// Runs [first, end), all of one sequence, over the tile of positions that starts at `begin`.
template <class V, class T>
static void attend_tile(const AttentionArgs& args, const RowBlock<V>& block, const RowRun* first,
                        const RowRun* end, uint32_t begin) {
  const uint32_t next_tile = begin + kAttentionTile;
  PositionRange all = {kAttentionTile, 0};
  bool sees_next = false;
  Visible seen[kAttentionRowBlock];
  for (const RowRun* run = first; run < end; ++run) {
    seen[run - first] = visible_of(args, *run, begin);
    sees_next = sees_next || !visible(run->seen, next_tile).span.empty();
    const PositionRange span = seen[run - first].span;
    if (span.empty()) continue;
    if (span.begin < all.begin) all.begin = span.begin;
    if (span.end > all.end) all.end = span.end;
  }
  if (all.empty()) return;

  const uint32_t sequence = static_cast<uint32_t>(args.sequences[first->begin]);
  const Tile<T> tile = tile_at<V, T>(args.cache, sequence, block.kv_head, begin);
  FetchAhead<T> ahead = {tile.values};
  if (sees_next) {
    ahead.elements = tile_at<V, T>(args.cache, sequence, block.kv_head, next_tile).keys;
  } else if (block.next_keys != nullptr && end == block.runs + block.run_count) {
    ahead.elements = static_cast<const T*>(block.next_keys);
  }
  score_rows<V>(args, block, first->begin, end[-1].end, all, tile);
  for (const RowRun *run = first, *next; run < end; run = next) {
    const Visible& own = seen[run - first];
    next = run + 1;
    if (own.span.empty()) continue;
    while (next < end && next->begin == next[-1].end && seen[next - first].begins_like(own)) ++next;
    weigh_runs<V>(args, block, run, next, &own, tile, ahead);
    ahead.elements = tile.values;
  }
}

/// The positions of the segment that the rows of the block see.
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

/// A work unit; `segments` consecutive units have the same rows and KV head.
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

/// The keys that a unit begins with: those of the first tile that its first row sees. Null if it sees none.
template <class V, class T>
static const T* first_keys(const AttentionArgs& args, const UnitRows& rows, uint32_t unit) {
  PositionRange seen = seen_by(args, rows.begin);
  if (args.segments != 0) seen = seen_of_segment(seen, unit % args.segments);
  if (seen.empty()) return nullptr;
  const uint32_t tile = seen.begin / kAttentionTile * kAttentionTile;
  return tile_at<V, T>(args.cache, static_cast<uint32_t>(args.sequences[rows.begin]), rows.kv_head, tile)
      .keys;
}

/// Prefetches the queries of the next unit: with many rows they are no longer in this core's L2. Always
/// inline, as above.
MOTE_INLINE static inline void ask_for_queries(const AttentionArgs& args, const UnitRows& unit) {
  const uint32_t width = args.heads / args.cache.kv_heads * args.cache.key_dim;
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

template <class V>
static bool sees_segment(const AttentionArgs& args, const RowBlock<V>& block, uint32_t segment) {
  for (const RowRun* run = block.runs; run < block.runs + block.run_count; ++run) {
    if (sees_segment(args, *run, segment)) return true;
  }
  return false;
}

/// All segments, folded.
template <class V, class T>
static void attend_all(const AttentionArgs& args, const RowBlock<V>& block) {
  const uint32_t width = args.cache.value_dim;
  if (block.run_count == 0) return;
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
    if (is_sparse(args.score) && !sees_segment(args, block, segment)) continue;
    attend_segment<V, T>(args, block, segment);
    if (segment != first) {
      each_query(block, [&](const RowRun& run, uint32_t row, uint32_t head) {
        if (segment <= run.first_segment() || !sees_segment(args, run, segment)) return;
        fold(softmax_of(args, block, run, row, head, run.first_segment()),
             softmax_of(args, block, run, row, head, segment), width);
      });
    }
  } while (++segment * kAttentionSegment < all.end);
  const bool same_last_tile = (least_end - 1) / kAttentionTile == (all.end - 1) / kAttentionTile;
  if (segment == first + 1 && same_last_tile) return;  // the last tile has divided the outputs
  each_query(block, [&](const RowRun& run, uint32_t row, uint32_t head) {
    divide(softmax_of(args, block, run, row, head, run.first_segment()), width);
  });
}

/// The queries of a work unit times the scale, packed as keys are.
template <class V>
static void pack_queries(const AttentionArgs& args, const RowBlock<V>& block, uint32_t end) {
  const uint32_t width = args.cache.key_dim;
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

/// Says whether a row is of the same group as the one before it, or there are no groups.
static inline bool is_same_group(const AttentionArgs& args, uint32_t row) {
  const auto group = [&](uint32_t at) { return static_cast<uint32_t>(args.positions[at]) / args.group; };
  return args.group == 0 || group(row) == group(row - 1);
}

/// Returns the positions that any row of a run or another row, of the same sequence, sees.
static inline SparseRow joint(const SparseRow& run, const SparseRow& row) {
  return {run.all || row.all,
          run.begin < row.begin ? run.begin : row.begin,
          run.end > row.end ? run.end : row.end,
          run.last,
          run.count,
          run.next_global};
}

/// The rows of a unit, and what they see.
template <class V>
static void take_rows(const AttentionArgs& args, const UnitRows& rows, RowBlock<V>* block) {
  block->kv_head = rows.kv_head;
  if (block->run_count != 0 && block->begin == rows.begin) return;  // another head of the same rows
  block->begin = rows.begin;
  block->run_count = 0;
  for (uint32_t row = rows.begin; row < rows.end; ++row) {
    if (!attends(args, row)) continue;
    const SparseRow sparse = is_sparse(args.score) ? sparse_row(args, row) : SparseRow{};
    const bool follows = row != rows.begin && args.sides == 0 && !args.global_queries &&
                         args.sequences[row] == args.sequences[row - 1] &&
                         args.last_seen[row] == args.last_seen[row - 1] && is_same_group(args, row);
    if (follows) {
      RowRun& run = block->runs[block->run_count - 1];
      run.end = row + 1;
      run.sparse = joint(run.sparse, sparse);
    } else {
      block->runs[block->run_count++] = {row, row + 1, seen_by(args, row), sparse};
    }
  }
}

/// Scores, maximum, sum and the partials of a segment, for each query of a unit; and the query itself, where
/// it is packed.
template <class V, class T>
constexpr uint64_t attention_scratch(const ScratchShape& shape) {
  const uint64_t floats = kAttentionTile + 2 + attention_partial_floats(shape.value_dim);
  const uint64_t query = V::kPacked == 1 ? 0 : shape.key_dim / V::kPacked + V::kQueryTail;
  const uint64_t bytes = floats * sizeof(float) + query * sizeof(typename V::Query);
  return align_up(kAttentionRowBlock * shape.heads_per_kv_head * bytes, kAlignment);
}

template <class V, class T>
static void attention(const AttentionArgs& args, Range units, void* scratch) {
  static_assert(CheckAttention<V>::kPasses);
  assert(args.heads % args.cache.kv_heads == 0 && args.cache.page_positions % kBlock == 0);
  RowBlock<V> block = {};
  block.heads = args.heads / args.cache.kv_heads;
  const size_t queries = static_cast<size_t>(kAttentionRowBlock) * block.heads;
  block.scores = static_cast<float*>(scratch);
  block.max = block.scores + queries * kAttentionTile;
  block.sum = block.max + queries;
  block.partials = block.sum + queries;
  block.queries = reinterpret_cast<typename V::Query*>(
      block.partials + queries * attention_partial_floats(args.cache.value_dim));
  if (units.begin == units.end) return;
  UnitRows next = rows_of_unit(args, units.begin);
  for (uint32_t unit = units.begin; unit < units.end; ++unit) {
    const UnitRows rows = next;
    take_rows(args, rows, &block);
    block.next_keys = nullptr;
    if (unit + 1 != units.end) {
      next = rows_of_unit(args, unit + 1);
      ask_for_queries(args, next);
      block.next_keys = first_keys<V, T>(args, next, unit + 1);
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
