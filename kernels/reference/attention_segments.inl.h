// SPDX-License-Identifier: Apache-2.0
//
// The segments of positions that a row sees, and the fold of their partial softmaxes (ops.h). The kernels of
// all families share this code, so that all of them round the fold alike; it takes little of the time of a
// segment.
#pragma once

#include <math.h>

#include "kernels/ops.h"

namespace mote {

/// Positions [begin, end).
struct PositionRange {
  uint32_t begin, end;
  bool empty() const { return begin >= end; }
};

static inline PositionRange seen_by(const AttentionArgs& args, size_t row) {
  const uint32_t end = static_cast<uint32_t>(args.last_seen[row]) + 1;
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
