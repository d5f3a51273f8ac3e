// SPDX-License-Identifier: Apache-2.0
//
// Weights and weighted sums of attention over one tile of a cache of i8, over the vectors V (int8_512.inl.h,
// simd/int8_floats.inl.h).
//
// A weight is multiplied by the scale of its value and rounded to a byte. V::kMostWeight stands for the
// largest product of a query over the tile, or the largest sum of two where V::joint adds pairs. The largest
// product is the actual one and not a bound from the scales, because the token with the largest weight often
// has the smallest scale. A byte is within half a step, so the sum of n values is within n j / 510 of their
// largest magnitude, and is divided by the sum of the weights at the end; j is 2 where V::joint adds two, 255
// / V::kMostWeight where that is less, else 1. Sums of products are exact, and an invisible position has
// weight 0: bytes cannot be NaN.
//
// Against the reference: queries are rounded to bytes, too. The scores of a query q differ by
// d = scale j max |q| / 254 sum |k_e| at most, so out by (2 d + n j / (510 sum of weights) + 2^-12 +
// (n + 8) 2^-24) max |v|.
#pragma once

#include "kernels/simd/attention_tile.inl.h"

namespace mote {
namespace {

/// As weigh_scores, but the weights are bytes, in the first quarter of the scores; steps[i] is the value of
/// one step for query i. `values` is the tile's.
template <class V, uint32_t Q, class T>
MOTE_OWN_REGISTERS static void weigh_scores_to_bytes(float* scores, const T* values, uint32_t width,
                                                     const QuerySpans& spans, const Softmax* softmax,
                                                     float* factors, float* steps) {
  const uint32_t start = spans.shared.begin / V::kLanes * V::kLanes,
                 end = (spans.last_end + V::kLanes - 1) / V::kLanes * V::kLanes;
  typename V::Float shift[Q], total[Q];
  typename V::Int largest[Q];
  find_largest<V, Q>(scores, spans, start, end, softmax, shift, factors);
  MOTE_UNROLL for (uint32_t i = 0; i < Q; ++i) {
    total[i] = V::set(0.0f);
    largest[i] = V::zero_dot();
  }
  for (uint32_t at = start; at < end; at += V::kLanes) {
    const typename V::Float scales = V::load_scales(values, width, at);
    const bool all_seen = at >= spans.shared.begin && at + V::kLanes <= spans.shared.end;
    MOTE_UNROLL for (uint32_t i = 0; i < Q; ++i) {
      float* score = scores + i * kAttentionTile + at;
      const typename V::Float weight = V::rough_exp(V::load(score), shift[i]);
      total[i] = V::add(total[i], weight);
      typename V::Float scaled = V::mul(weight, scales);
      // The scale of an invisible position may be a NaN, and 0 times it would be one.
      if (!all_seen) scaled = V::where_within(spans.shared.begin, spans.end[i], at, scaled, 0.0f);
      V::store(score, scaled);
      largest[i] = V::max_magnitude(largest[i], V::joint(scaled));
    }
  }
  typename V::Float inverse[Q];
  MOTE_UNROLL for (uint32_t i = 0; i < Q; ++i) {
    *softmax[i].sum = *softmax[i].sum * factors[i] + V::sum(total[i]);
    const float most = V::max_magnitude(largest[i]);
    steps[i] = most / V::kMostWeight;
    inverse[i] = V::set(V::kMostWeight / most);
  }
  for (uint32_t at = start; at < end; at += V::kLanes) {
    MOTE_UNROLL for (uint32_t i = 0; i < Q; ++i) {
      float* row = scores + i * kAttentionTile;
      V::store_weights(row, at, V::load(row + at), inverse[i]);
    }
  }
}

/// As weigh_columns, of weights that are bytes and the quads [begin, end) of positions.
template <class V, uint32_t Q, uint32_t C, class T, class Ahead>
MOTE_OWN_REGISTERS static void weigh_quads(const float* weights, const T* values, const Ahead& ahead,
                                           uint32_t width, PositionRange quads, const Outputs& outputs,
                                           const float* steps, uint32_t columns = V::kLanes) {
  typename V::Dot dot[Q][C];
  MOTE_UNROLL for (uint32_t i = 0; i < Q; ++i) {
    MOTE_UNROLL for (uint32_t c = 0; c < C; ++c) dot[i][c] = V::zero_dot();
  }
  MOTE_UNROLL_2 for (uint32_t quad = quads.begin; quad < quads.end; ++quad) {
    const T* row = values + kBlock * (quad / 4 + 1) + static_cast<size_t>(quad) * width;
    ahead.template prefetch<C * V::kLanes>(static_cast<size_t>(row - values));
    decltype(V::weight(weights, quad)) weight[Q];
    MOTE_UNROLL for (uint32_t i = 0; i < Q; ++i) weight[i] = V::weight(weights + i * kAttentionTile, quad);
    MOTE_UNROLL for (uint32_t c = 0; c < C; ++c) {
      const bool whole = C > 1 || columns == V::kLanes;
      const auto value = whole ? V::load_values(row + c * V::kLanes) : V::load_first_values(row, columns);
      MOTE_UNROLL for (uint32_t i = 0; i < Q; ++i) dot[i][c] = V::fma(value, weight[i], dot[i][c]);
    }
  }
  MOTE_UNROLL for (uint32_t i = 0; i < Q; ++i) {
    const typename V::Float step = V::set(steps[i]);
    MOTE_UNROLL for (uint32_t c = 0; c < C; ++c) {
      float* out = outputs[i] + c * V::kLanes;
      typename V::Float sum = V::mul(step, V::to_float(dot[i][c]));
      if (outputs.factor != nullptr)
        sum = V::fma(V::set(outputs.factor[i]), V::load_first(out, columns), sum);
      if (outputs.last) sum = V::div(sum, V::set(*outputs.query[i].sum));
      V::store_first(out, columns, sum);
    }
  }
}

/// As weigh_values.
template <class V, uint32_t Q, uint32_t C, class T, class Ahead>
static void weigh_values_by_quads(const float* weights, const T* values, const Ahead& ahead, uint32_t width,
                                  PositionRange quads, const Outputs& outputs, const float* steps,
                                  uint32_t at = 0) {
  for (; at + C * V::kLanes <= width; at += C * V::kLanes) {
    weigh_quads<V, Q, C>(weights, values + at, ahead.from(at), width, quads, outputs.from(at), steps);
  }
  if constexpr (C > 1) {
    weigh_values_by_quads<V, Q, C / 2>(weights, values, ahead, width, quads, outputs, steps, at);
  } else if (at < width) {
    weigh_quads<V, Q, 1>(weights, values + at, ahead.from(at), width, quads, outputs.from(at), steps,
                         width - at);
  }
}

}  // namespace
}  // namespace mote
