// SPDX-License-Identifier: Apache-2.0
//
// The segments of positions that a row sees, the fold of their partial softmaxes, and what scores get by
// position (attention_ops.h). The kernels of all families share this code, so that all of them round alike;
// it takes little of the time of a segment.
#pragma once

#include <float.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "kernels/ops.h"
#include "kernels/trimmed_build.h"

namespace mote {

/// Positions [begin, end).
struct PositionRange {
  uint32_t begin, end;
  bool empty() const { return begin >= end; }
};

/// At most `sides` away, of positions below `end`.
static inline PositionRange seen_nearby(const AttentionArgs& args, size_t row, uint32_t end) {
  const uint32_t position = static_cast<uint32_t>(args.positions[row]), behind = position + args.sides + 1;
  return {position > args.sides ? position - args.sides : 0, behind < end ? behind : end};
}

/// next_global by the positions of the row's sequence.
static inline const int32_t* globals_of_sequence(const AttentionArgs& args, size_t row) {
  return args.next_global + (static_cast<ptrdiff_t>(row) - args.positions[row]);
}

/// Returns the positions that a row sees; for a sparse kind from the first position that is seen to the last.
static inline PositionRange seen_by(const AttentionArgs& args, size_t row) {
  const uint32_t end = static_cast<uint32_t>(args.last_seen[row]) + 1;
  if (args.group != 0) {
    const uint32_t begin = static_cast<uint32_t>(args.positions[row]) / args.group * args.group;
    return {begin, begin + args.group < end ? begin + args.group : end};
  }
  if (args.sides == 0) {
    const uint32_t first = args.first_seen == nullptr ? 0 : args.first_seen[args.sequences[row]];
    const uint32_t begin = args.window != 0 && end > args.window ? end - args.window : 0;
    return {begin > first ? begin : first, end};
  }
  PositionRange seen = seen_nearby(args, row, end);
  if (args.score != ScoreKind::globals) return seen;
  const int32_t* next = globals_of_sequence(args, row);
  if (next[0] < static_cast<int32_t>(seen.begin)) seen.begin = static_cast<uint32_t>(next[0]);
  if (seen.end < end && next[seen.end] != kNoGlobal) seen.end = end;
  return seen;
}

static inline bool attends(const AttentionArgs& args, size_t row) {
  return !args.global_queries || args.next_global[row] == args.positions[row];
}

/// Returns the positions of `seen` that lie in a segment.
static inline PositionRange seen_of_segment(PositionRange seen, uint32_t segment) {
  const uint32_t begin = segment * kAttentionSegment, end = begin + kAttentionSegment;
  return {seen.begin > begin ? seen.begin : begin, seen.end < end ? seen.end : end};
}

/// Softmax of one query over some positions, not yet divided by its sum.
struct Softmax {
  float* out;  // [F]
  float* max;
  float* sum;
};

/// The maximum and the sum of a segment before its first position.
struct SoftmaxStart {
  float max, sum;
};

/// `first`: the segment is the first that the row sees, which has the sink.
static inline SoftmaxStart start_of(const AttentionArgs& args, size_t head, bool first) {
  if (args.sinks == nullptr || !first) return {-FLT_MAX, 0.0f};
  return {args.sinks[head], 1.0f};
}

/// The bias of the scores of row t, from the key at position 0 on.
static inline const float* bias_of_head(const AttentionArgs& args, size_t head, size_t t) {
  const float* bias = args.row_bias.data == nullptr ? args.bias : args.row_bias[static_cast<uint32_t>(t)];
  const size_t reach = args.bias_reach, position = static_cast<uint32_t>(args.positions[t]);
  if (kHasWholeSequences && args.group != 0) {
    const size_t kind = args.edges == nullptr ? 0 : args.edges[t];
    const size_t row = (kind * args.heads + head) * reach + position % reach;
    return args.bias + row * args.group - position / args.group * args.group;
  }
  if (args.by_position) return args.bias + (head * reach + position) * reach;
  const uint32_t to_zero = args.bias_reach - 1 - static_cast<uint32_t>(args.positions[t]);
  return bias + head * (2 * static_cast<size_t>(args.bias_reach) - 1) + to_zero;
}

/// A table of relative keys or queries for a query, from the key at position 0 on: the head's first row. The
/// next row is relative_columns() behind it.
static inline size_t relative_columns(const AttentionArgs& args) {
  return 2 * static_cast<size_t>(args.relative_reach) - 1;
}
static inline const float* relative_of_head(const AttentionArgs& args, const float* table, size_t head,
                                            int32_t position) {
  const uint32_t to_zero = args.relative_reach - 1 - static_cast<uint32_t>(position);
  return table + head * args.cache.key_dim * relative_columns(args) + to_zero;
}

static inline bool is_sparse(ScoreKind score) {
  return score == ScoreKind::blocks || score == ScoreKind::globals;
}

/// The positions that a row sees of a sparse kind: all, or positions [begin, end) and those from `last` on,
/// of blocks the first block too, of globals the positions of global tokens.
struct SparseRow {
  bool all;
  uint32_t begin, end, last;
  uint32_t count;              // positions of the sequence
  const int32_t* next_global;  // by its positions; null for blocks
};

static inline SparseRow sparse_row(const AttentionArgs& args, size_t row) {
  const uint32_t position = static_cast<uint32_t>(args.positions[row]);
  const uint32_t count = static_cast<uint32_t>(args.last_seen[row]) + 1;
  if (args.score == ScoreKind::globals) {
    const PositionRange near = seen_nearby(args, row, count);
    return {false, near.begin, near.end, UINT32_MAX, count, globals_of_sequence(args, row)};
  }
  const uint32_t own = position / args.block, last = (count - 1) / args.block;
  if (count <= args.all_up_to || own == 0 || own == last) return {true, 0, count, 0, count, nullptr};
  return {false, (own - 1) * args.block, (own + 2) * args.block, last * args.block, count, nullptr};
}

/// Returns the bias that is added to the score at position p.
static inline float sparse_bias(const AttentionArgs& args, const SparseRow& row, uint32_t p) {
  if (row.all) return 0.0f;
  if (row.next_global == nullptr && p < args.block) return args.first_block_bonus;
  if ((p >= row.begin && p < row.end) || p >= row.last) return 0.0f;
  const bool global = row.next_global != nullptr && row.next_global[p] == static_cast<int32_t>(p);
  return global ? 0.0f : kUnseenScore;
}

/// Writes the biases of the positions [begin, end) of the sequence, in order; false: all are 0.
static inline bool sparse_biases(const AttentionArgs& args, const SparseRow& row, PositionRange positions,
                                 float* biases) {
  const uint32_t begin = positions.begin, end = positions.end;
  const bool of_blocks = row.next_global == nullptr;
  if (row.all || (begin >= row.begin && end <= row.end && !(of_blocks && begin < args.block))) return false;
  for (uint32_t p = begin; p < end; ++p) biases[p - begin] = kUnseenScore;
  const auto set = [=](uint32_t from, uint32_t to, float bias) {
    if (to > end) to = end;
    for (uint32_t p = from > begin ? from : begin; p < to; ++p) biases[p - begin] = bias;
  };
  set(row.begin, row.end, 0.0f);
  set(row.last, end, 0.0f);
  if (of_blocks) {
    set(0, args.block, args.first_block_bonus);
    return true;
  }
  for (uint32_t p = begin; p < end; ++p) {
    if (row.next_global[p] >= static_cast<int32_t>(end)) break;
    p = static_cast<uint32_t>(row.next_global[p]);
    biases[p - begin] = 0.0f;
  }
  return true;
}

/// Says whether the row sees any of the positions [begin, end).
static inline bool sees_any(const AttentionArgs& args, const SparseRow& row, uint32_t begin, uint32_t end) {
  if (row.all || end > row.last || (begin < row.end && end > row.begin)) return true;
  if (row.next_global == nullptr) return begin < args.block;
  return begin < row.count && row.next_global[begin] < static_cast<int32_t>(end);
}

static inline bool sees_segment(const AttentionArgs& args, size_t row, uint32_t segment) {
  const uint32_t begin = segment * kAttentionSegment;
  return !is_sparse(args.score) || sees_any(args, sparse_row(args, row), begin, begin + kAttentionSegment);
}

/// ALiBi's term for a key that lies `offset` positions behind the query.
static inline float alibi(float slope, int32_t offset) {
  return slope * -static_cast<float>(offset < 0 ? -offset : offset);
}

/// Falcon's, by the key's position: the product rounded to bf16, to nearest even.
static inline float alibi_bf16(float slope, int32_t position) {
  const float product = slope * static_cast<float>(position);
  uint32_t bits;
  memcpy(&bits, &product, sizeof bits);
  bits = (bits + 0x7FFFu + (bits >> 16 & 1u)) & 0xFFFF0000u;
  float rounded;
  memcpy(&rounded, &bits, sizeof rounded);
  return rounded;
}

static inline Softmax softmax_at(float* partial, uint32_t value_dim) {
  return {partial, partial + value_dim, partial + value_dim + 1};
}

/// Joins `later`, of the next segment, to `total`.
static inline void fold(const Softmax& total, const Softmax& later, uint32_t value_dim) {
  const float max = *later.max > *total.max ? *later.max : *total.max;
  const float a = expf(*total.max - max), b = expf(*later.max - max);
  *total.max = max;
  *total.sum = *total.sum * a + *later.sum * b;
  for (uint32_t e = 0; e < value_dim; ++e) total.out[e] = total.out[e] * a + later.out[e] * b;
}

static inline void copy(const Softmax& to, const Softmax& from, uint32_t value_dim) {
  *to.max = *from.max;
  *to.sum = *from.sum;
  for (uint32_t e = 0; e < value_dim; ++e) to.out[e] = from.out[e];
}

/// The final division by the sum, unless it is done.
static inline void divide(const Softmax& softmax, uint32_t value_dim) {
  const float sum = *softmax.sum;
  if (sum == 1.0f) return;
  for (uint32_t e = 0; e < value_dim; ++e) softmax.out[e] /= sum;
}

/// The partials of a query's first segment.
static inline float* partials_of(const AttentionArgs& args, size_t row, size_t head) {
  const size_t floats = attention_partial_floats(args.cache.value_dim);
  return args.partials + (row * args.heads + head) * args.segments * floats;
}

}  // namespace mote
