// SPDX-License-Identifier: Apache-2.0
//
// The segments of positions that a row sees, the fold of their partial softmaxes, and what scores get by
// position (ops.h). The kernels of all families share this code, so that all of them round alike; it takes
// little of the time of a segment.
#pragma once

#include <float.h>
#include <math.h>
#include <string.h>

#include "kernels/ops.h"

namespace mote {

/// Positions [begin, end).
struct PositionRange {
  uint32_t begin, end;
  bool empty() const { return begin >= end; }
};

static inline PositionRange seen_by(const AttentionArgs& args, size_t row) {
  const uint32_t end = static_cast<uint32_t>(args.last_seen[row]) + 1;
  if (args.sides != 0) {
    const uint32_t position = static_cast<uint32_t>(args.positions[row]), behind = position + args.sides + 1;
    return {position > args.sides ? position - args.sides : 0, behind < end ? behind : end};
  }
  if (args.group != 0) {
    const uint32_t begin = static_cast<uint32_t>(args.positions[row]) / args.group * args.group;
    return {begin, begin + args.group < end ? begin + args.group : end};
  }
  return {args.window != 0 && end > args.window ? end - args.window : 0, end};
}

/// What of them lies in a segment.
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

/// What the maximum and the sum of a segment are before its first position.
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
  if (args.group != 0)
    return args.bias + (head * reach + position) * args.group - position / args.group * args.group;
  if (args.by_position) return args.bias + (head * reach + position) * reach;
  const uint32_t to_zero = args.bias_reach - 1 - static_cast<uint32_t>(args.positions[t]);
  return bias + head * (2 * static_cast<size_t>(args.bias_reach) - 1) + to_zero;
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
