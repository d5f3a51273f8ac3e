// SPDX-License-Identifier: Apache-2.0
//
// The loops of attention over one tile of positions: scores, weights, weighted sums, over the vectors V
// (floats.h, CheckAttention below).
//
// Scores: a tile is Q queries by B = V::blocks blocks of 16 positions. An fma has a latency of 4 cycles and a
// throughput of 2 a cycle, so 8 sums must be in flight; Q registers hold the queries' elements and one holds
// keys. The heads of a row and neighbouring rows share each load and conversion of keys.
//
// Weighted sum: a tile is Q queries by C vectors of columns, over the positions that all of the queries see.
// The order of every sum is the same for all Q. It is the same for all V except in the sum of the weights,
// which has the lanes of V::Total.
//
// Tails: keys are read in whole blocks, and the scores of invisible positions are set to -inf; values are
// read for visible positions only; columns that do not fill C vectors take C / 2 vectors and so on, the last
// vector under a mask.
#pragma once

#include "kernels/reference/attention_segments.inl.h"
#include "kernels/simd/compiler.h"
#include "kernels/simd/elementary.inl.h"

namespace mote {
namespace {

constexpr uint32_t kBlock = 16;      // positions
constexpr uint32_t kMaxQueries = 8;  // that share a load
constexpr uint32_t kFewQueries = 4;  // where they are fewer than V::kQueries

/// The members that attention over a cache of elements T needs of V besides those of floats.h:
///
///   kQueries             the most queries that share a load of keys or values
///   blocks(q)            blocks of 16 positions that q queries score at a time; also the vectors of columns
///                        that they sum at a time
///   kPacked              columns of a key, or positions of values, in an element; 1 for floats and halves
///   kScales              elements that each key and value has besides its columns
///   kQueryTail           elements that a packed query has behind its columns
///   Query, Dot, Total    an element of a query; a sum of products; a sum of weights, whose zero is Total{}
///   dot_start(query, elements)                      the value that a dot product starts from
///   fma(x, key, dot)                                adds an element's products
///   score(dot, scale, query, elements, scales)      the score of a complete dot product
///   shift_of(largest)    the shift that the exponential of a score takes, from the largest score
///   weight(weights, at)  the factor of the values of element `at`, from a query's weights over a tile
///   add_weights(total, x), sum(total)    in an order that depends on positions alone
///   max_lanes(x)         the largest lane; a NaN lane gives NaN or the largest of the others
///   where_within(begin, end, first, x, other)       x where begin <= first + lane < end, else `other`
///
/// Packed elements need what bf16_512.inl.h and int8_floats.inl.h describe.
template <class V>
struct CheckAttention : CheckFloats<V> {
  static_assert(V::kQueries <= 8 && V::kQueries <= V::kLanes,
                "kQueries is at most 8, and no more than lanes");
  static_assert(V::blocks(1) >= V::blocks(V::kQueries), "blocks(queries) are fewer for more");
  static_assert(V::kPacked == 1 || V::kPacked == 2 || V::kPacked == 4, "kPacked is 1, 2 or 4");
  MOTE_NEEDS(V, v.kScales + v.kQueryTail);
  MOTE_NEEDS(V, v.dot_start(static_cast<const typename decltype(v)::Query*>(nullptr), 1u));
  MOTE_NEEDS(V, v.x = v.shift_of(0.0f));
  MOTE_NEEDS(V, v.weight(static_cast<const float*>(nullptr), 0u));
  MOTE_NEEDS(V, v.sum(typename decltype(v)::Total{}) + 0.0f);
  MOTE_NEEDS(V, v.max_lanes(v.x) + 0.0f);
  MOTE_NEEDS(V, v.x = v.where_within(0u, 1u, 0u, v.x, 0.0f));
};

/// Prefetches what is needed next, as many elements as are read meanwhile.
template <class T>
struct FetchAhead {
  const T* elements;
  FetchAhead from(size_t at) const { return {elements + at}; }
  template <uint32_t N>
  void prefetch(size_t at) const {
    for (uint32_t byte = 0; byte < N * sizeof(T); byte += 64) {
      __builtin_prefetch(reinterpret_cast<const char*>(elements + at) + byte, 0, 2);
    }
  }
};

/// Prefetches nothing: for queries that follow others of the same tile, which have prefetched the lines.
struct FetchNothing {
  FetchNothing from(size_t) const { return {}; }
  template <uint32_t N>
  void prefetch(size_t) const {}
};

/// Elements of the cache that a key or value of `columns` columns takes, its scale included. The scales of a
/// block lie before its columns.
template <class V>
constexpr uint32_t elements_of(uint32_t columns) {
  return columns / V::kPacked + V::kScales;
}

/// scores[i][16 b + j] = scale * dot(q[i], key of position 16 b + j) for Q queries and B blocks; width in
/// elements of columns. Packed queries are scaled already.
template <class V, uint32_t Q, uint32_t B, class T, class Ahead>
static inline void score_blocks(const typename V::Query* const* q, const T* keys, const Ahead& ahead,
                                uint32_t width, float scale, float* scores) {
  constexpr uint32_t kVectors = B * V::kVectors;
  const size_t block_elems = (static_cast<size_t>(width) + V::kScales) * kBlock;
  typename V::Dot sum[Q][kVectors];
  MOTE_UNROLL for (uint32_t i = 0; i < Q; ++i) {
    MOTE_UNROLL for (uint32_t v = 0; v < kVectors; ++v) sum[i][v] = V::dot_start(q[i], width);
  }
  MOTE_UNROLL_4 for (uint32_t e = 0; e < width; ++e) {
    decltype(V::set(q[0][0])) x[Q];
    MOTE_UNROLL for (uint32_t i = 0; i < Q; ++i) x[i] = V::set(q[i][e]);
    ahead.template prefetch<B * kBlock>(e * B * kBlock);
    MOTE_UNROLL for (uint32_t v = 0; v < kVectors; ++v) {
      const auto key = V::load(keys + v / V::kVectors * block_elems + (e + V::kScales) * kBlock +
                               v % V::kVectors * V::kLanes);
      MOTE_UNROLL for (uint32_t i = 0; i < Q; ++i) sum[i][v] = V::fma(x[i], key, sum[i][v]);
    }
  }
  ahead.template prefetch<B * kBlock * V::kScales>(width * B * kBlock);  // as much as the scales take
  MOTE_UNROLL for (uint32_t i = 0; i < Q; ++i) {
    MOTE_UNROLL for (uint32_t v = 0; v < kVectors; ++v) {
      V::store(scores + i * kAttentionTile + v * V::kLanes,
               V::score(sum[i][v], scale, q[i], width,
                        keys + v / V::kVectors * block_elems + v % V::kVectors * V::kLanes));
    }
  }
}

/// The blocks that the span touches, for Q queries; keys, ahead and scores are the tile's; width in elements.
template <class V, uint32_t Q, uint32_t B, class T, class Ahead>
MOTE_OWN_REGISTERS static void score_span(const typename V::Query* const* q, const T* keys,
                                          const Ahead& ahead, uint32_t width, float scale, PositionRange span,
                                          float* scores) {
  const uint32_t step = width + V::kScales;
  uint32_t at = span.begin / kBlock * kBlock;
  for (; at + B * kBlock < span.end + kBlock; at += B * kBlock) {
    score_blocks<V, Q, B>(q, keys + at * step, ahead.from(at * step), width, scale, scores + at);
  }
  for (; at < span.end; at += kBlock) {
    score_blocks<V, Q, 1>(q, keys + at * step, ahead.from(at * step), width, scale, scores + at);
  }
}

/// The positions of a tile that Q queries see. All of them see `shared`, which begins where each span does.
struct QuerySpans {
  PositionRange shared;
  uint32_t end[kMaxQueries];
  uint32_t last_end;
};

/// Finds the largest of the scores of Q queries from `start` to `end`, whole vectors, beginning with their
/// maxima so far; those that a query does not see become -inf. Moves each maximum m to m', and gives
/// V::shift_of of it and the factor exp(m - m').
template <class V, uint32_t Q>
MOTE_INLINE static inline void find_largest(float* scores, const QuerySpans& spans, uint32_t start,
                                            uint32_t end, const Softmax* softmax, typename V::Float* shift,
                                            float* factors) {
  typename V::Float largest[Q];
  MOTE_UNROLL for (uint32_t i = 0; i < Q; ++i) largest[i] = V::set(*softmax[i].max);
  for (uint32_t at = start; at < end; at += V::kLanes) {
    if (at >= spans.shared.begin && at + V::kLanes <= spans.shared.end) {
      MOTE_UNROLL for (uint32_t i = 0; i < Q; ++i) {
        largest[i] = V::max(V::load(scores + i * kAttentionTile + at), largest[i]);
      }
      continue;
    }
    MOTE_UNROLL for (uint32_t i = 0; i < Q; ++i) {
      float* score = scores + i * kAttentionTile + at;
      const typename V::Float s =
          V::where_within(spans.shared.begin, spans.end[i], at, V::load(score), -__builtin_inff());
      V::store(score, s);
      largest[i] = V::max(s, largest[i]);  // passes over a NaN
    }
  }
  alignas(64) float moved[V::kLanes] = {};
  MOTE_UNROLL for (uint32_t i = 0; i < Q; ++i) {
    const float next = V::max_lanes(largest[i]);
    moved[i] = *softmax[i].max - next;
    *softmax[i].max = next;
    shift[i] = V::shift_of(next);
  }
  alignas(64) float factor[V::kLanes];
  V::store(factor, exp_not_large<V>(V::load(moved)));
  MOTE_UNROLL for (uint32_t i = 0; i < Q; ++i) factors[i] = factor[i];
}

/// Turns V::kPacked vectors of scores, from `at` on, into weights exp(s - m) in place, where V::shift_of gave
/// the shift for m. Returns `total` plus the weights.
template <class V>
MOTE_INLINE static inline typename V::Total weigh(float* scores, uint32_t at, typename V::Float shift,
                                                  typename V::Total total) {
  if constexpr (V::kPacked == 1) {
    const typename V::Float weight = exp_not_large<V>(V::sub(V::load(scores + at), shift));
    V::store(scores + at, weight);
    return V::add_weights(total, weight);
  } else {
    const auto weights = V::pack(V::rough_exp(V::load(scores + at), shift),
                                 V::rough_exp(V::load(scores + at + V::kLanes), shift));
    V::store_pairs(scores + at / 2, weights);
    return V::add_both(total, weights);
  }
}

/// Turns the scores of Q queries into weights exp(s - m') in place, adds them to the sums, moves each maximum
/// from m to m' and gives the factors exp(m - m'). The lane that sums a weight depends on its position alone;
/// where weights are floats there are 8 such lanes for every V. Several queries are processed together
/// because the maximum, the exponential and the sum of one query are a chain of dependent operations.
template <class V, uint32_t Q>
MOTE_OWN_REGISTERS static void weigh_scores(float* scores, const QuerySpans& spans, const Softmax* softmax,
                                            float* factors) {
  constexpr uint32_t kStep = V::kPacked * V::kLanes;
  const uint32_t start = spans.shared.begin / kStep * kStep,
                 end = (spans.last_end + kStep - 1) / kStep * kStep;
  typename V::Float shift[Q];
  find_largest<V, Q>(scores, spans, start, end, softmax, shift, factors);
  typename V::Total total[Q];
  MOTE_UNROLL for (uint32_t i = 0; i < Q; ++i) total[i] = typename V::Total{};
  for (uint32_t at = start; at < end; at += kStep) {
    MOTE_UNROLL for (uint32_t i = 0; i < Q; ++i) {
      total[i] = weigh<V>(scores + i * kAttentionTile, at, shift[i], total[i]);
    }
  }
  MOTE_UNROLL for (uint32_t i = 0; i < Q; ++i) {
    *softmax[i].sum = *softmax[i].sum * factors[i] + V::sum(total[i]);
  }
}

/// Outputs of Q queries, from a column on. factor null: they start from 0 and are not read. `last`: they are
/// complete, and are divided by the queries' sums.
struct Outputs {
  const Softmax* query;
  const float* factor;
  bool last;
  uint32_t column;
  Outputs from(uint32_t at) const { return {query, factor, last, at}; }
  float* operator[](uint32_t i) const { return query[i].out + column; }
};

/// out[i][column] = factor[i] * out[i][column] + sum over the span of weights[i][p] * values[p][column], in
/// order of p, at last divided, for Q queries and C vectors of columns, or the first `columns` of one. The
/// first and the last element may be half outside the span where elements hold two positions.
template <class V, uint32_t Q, uint32_t C, class T, class Ahead>
MOTE_OWN_REGISTERS static void weigh_columns(const float* weights, const T* values, const Ahead& ahead,
                                             uint32_t width, PositionRange span, const Outputs& outputs,
                                             uint32_t columns = V::kLanes) {
  typename V::Float sum[Q][C];
  MOTE_UNROLL for (uint32_t i = 0; i < Q; ++i) {
    MOTE_UNROLL for (uint32_t c = 0; c < C; ++c) {
      sum[i][c] = V::set(0.0f);
      if (outputs.factor == nullptr) continue;
      sum[i][c] = V::mul(V::set(outputs.factor[i]), V::load_first(outputs[i] + c * V::kLanes, columns));
    }
  }
  const auto add = [&](uint32_t at, auto part) MOTE_INLINE {
    const T* row = values + at * width;
    ahead.template prefetch<C * V::kLanes>(at * width);
    decltype(V::weight(weights, at)) weight[Q];
    MOTE_UNROLL for (uint32_t i = 0; i < Q; ++i) weight[i] = V::weight(weights + i * kAttentionTile, at);
    MOTE_UNROLL for (uint32_t c = 0; c < C; ++c) {
      const bool whole = C > 1 || columns == V::kLanes;
      const auto value = part(whole ? V::load(row + c * V::kLanes) : V::load_first(row, columns));
      MOTE_UNROLL for (uint32_t i = 0; i < Q; ++i) sum[i][c] = V::fma(weight[i], value, sum[i][c]);
    }
  };
  const auto all = [](auto value) MOTE_INLINE { return value; };
  uint32_t at = span.begin / V::kPacked;
  if constexpr (V::kPacked == 2) {
    if (span.begin % 2 != 0) add(at++, [](auto value) MOTE_INLINE { return V::second(value); });
  }
  MOTE_UNROLL_2 for (; at < span.end / V::kPacked; ++at) add(at, all);
  if constexpr (V::kPacked == 2) {
    if (span.end % 2 != 0) add(at, [](auto value) MOTE_INLINE { return V::first(value); });
  }
  MOTE_UNROLL for (uint32_t i = 0; i < Q; ++i) {
    MOTE_UNROLL for (uint32_t c = 0; c < C; ++c) {
      if (outputs.last) sum[i][c] = V::div(sum[i][c], V::set(*outputs.query[i].sum));
      V::store_first(outputs[i] + c * V::kLanes, columns, sum[i][c]);
    }
  }
}

/// As above for all columns from `at` on: C vectors at a time, then half as many.
template <class V, uint32_t Q, uint32_t C, class T, class Ahead>
static void weigh_values(const float* weights, const T* values, const Ahead& ahead, uint32_t width,
                         PositionRange span, const Outputs& outputs, uint32_t at = 0) {
  for (; at + C * V::kLanes <= width; at += C * V::kLanes) {
    weigh_columns<V, Q, C>(weights, values + at, ahead.from(at), width, span, outputs.from(at));
  }
  if constexpr (C > 1) {
    weigh_values<V, Q, C / 2>(weights, values, ahead, width, span, outputs, at);
  } else if (at < width) {
    weigh_columns<V, Q, 1>(weights, values + at, ahead.from(at), width, span, outputs.from(at), width - at);
  }
}

}  // namespace
}  // namespace mote
