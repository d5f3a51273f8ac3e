// SPDX-License-Identifier: Apache-2.0
//
// out = softmax(scale q K^T + bias) V by tiles of 128 positions, for a cache of f32 or f16 (ops.h has the
// recurrence). Shapes: q, out [T, H, E]; of a KV head keys [capacity / 16][E][16] and values [capacity][E].
//
// A work unit walks the tiles outside and its 16 rows inside: a tile of keys and values (64 KiB at f32, E =
// 64) comes from memory once and from the cache for the other rows.
//
// Scores: Q queries by B blocks of 16 positions. FMA has latency 4 at 2 a cycle, so 8 sums must be in flight;
// of 16 registers Q hold the queries' elements and one the keys of 8 positions. Q x B = 1 x 4, 2 x 2, 3 x 2,
// 4 x 1 make 8 or 12 sums. The heads of a row and neighbouring rows share each load (and conversion) of keys.
// Weighted sum: Q heads of a row by C vectors of columns, 1 x 8, 2 x 4, 3 x 4, 4 x 2, by the same count. Rows
// do not share: what they may read differs, and 0 times a NaN that a later row stored is not 0.
//
// Tails: keys come in whole blocks, and scores of invisible positions become -inf whatever they are; values
// are read for visible positions only; columns that do not fill C vectors are done by halves of C, the last
// under a mask.
//
// Against the reference: scores have the same bits. The weights differ by 2 ulp each (exponential) and their
// sum by n 2^-24 (order), n the positions seen, so out by (n + 8) 2^-24 max |v| at most; measured, n up to
// 4096: 8e-7 max |v|.
#pragma once

#include <assert.h>
#include <float.h>

#include "kernels/x86/math_avx2.inl.h"

// Inner loops are functions of their own: inlined into one, they spill each other's pointers.
#define MOTE_OWN_REGISTERS __attribute__((noinline))

namespace mote::avx2 {

constexpr uint32_t kBlock = 16;      // positions
constexpr uint32_t kMaxQueries = 4;  // that share a load

/// Positions of a tile, counted from its first.
struct Span {
  uint32_t begin, end;
  bool empty() const { return begin >= end; }
};

/// What row sees of the tile that starts at position `tile`. *first: no earlier tile has any.
static inline Span visible(const AttentionArgs& args, uint32_t row, uint32_t tile, bool* first) {
  const uint32_t end = static_cast<uint32_t>(args.last_seen[row]) + 1;
  const uint32_t begin = args.window != 0 && end > args.window ? end - args.window : 0;
  *first = begin >= tile;
  Span span = {begin > tile ? begin - tile : 0, end > tile ? end - tile : 0};
  if (span.end > kAttentionTile) span.end = kAttentionTile;
  return span;
}

/// scores[i][16 b + j] = scale * dot(q[i], key of position 16 b + j) for Q queries and B blocks.
template <uint32_t Q, uint32_t B, class T>
static inline void score_blocks(const float* const* q, const T* keys, uint32_t width, float scale,
                                float* scores) {
  constexpr uint32_t kVectors = B * kBlock / kLanes;
  const size_t block_elems = static_cast<size_t>(width) * kBlock;
  __m256 sum[Q][kVectors];
  MOTE_UNROLL for (uint32_t i = 0; i < Q; ++i) {
    MOTE_UNROLL for (uint32_t v = 0; v < kVectors; ++v) sum[i][v] = _mm256_setzero_ps();
  }
  for (uint32_t e = 0; e < width; ++e) {
    __m256 x[Q];
    MOTE_UNROLL for (uint32_t i = 0; i < Q; ++i) x[i] = _mm256_broadcast_ss(q[i] + e);
    MOTE_UNROLL for (uint32_t v = 0; v < kVectors; ++v) {
      const __m256 key = load8(keys + v / 2 * block_elems + e * kBlock + v % 2 * kLanes);
      MOTE_UNROLL for (uint32_t i = 0; i < Q; ++i) sum[i][v] = _mm256_fmadd_ps(x[i], key, sum[i][v]);
    }
  }
  const __m256 factor = _mm256_set1_ps(scale);
  MOTE_UNROLL for (uint32_t i = 0; i < Q; ++i) {
    MOTE_UNROLL for (uint32_t v = 0; v < kVectors; ++v) {
      _mm256_storeu_ps(scores + i * kAttentionTile + v * kLanes, _mm256_mul_ps(factor, sum[i][v]));
    }
  }
}

/// The blocks that the span touches, for Q queries; keys and scores are the tile's.
template <uint32_t Q, uint32_t B, class T>
MOTE_OWN_REGISTERS static void score_span(const float* const* q, const T* keys, uint32_t width, float scale,
                                          Span span, float* scores) {
  uint32_t at = span.begin / kBlock * kBlock;
  for (; at + B * kBlock < span.end + kBlock; at += B * kBlock) {
    score_blocks<Q, B>(q, keys + static_cast<size_t>(at) * width, width, scale, scores + at);
  }
  for (; at < span.end; at += kBlock) {
    score_blocks<Q, 1>(q, keys + static_cast<size_t>(at) * width, width, scale, scores + at);
  }
}

/// Adds the bias of one query; scores and bias are the tile's. A pass of its own, a 2 E-th of the scores'
/// work.
static inline void add_bias(float* scores, const float* bias, Span span) {
  for (uint32_t at = span.begin; at < span.end; at += kLanes) {
    const uint32_t left = span.end - at;
    store_first(scores + at, left, _mm256_add_ps(load_first(scores + at, left), load_first(bias + at, left)));
  }
}

/// Turns the scores of the span into weights exp(s - m') in place, adds them to *sum, moves *max from m to m'
/// and returns exp(m - m'). The lane that adds a weight depends on its position alone.
static inline float weigh_scores(float* scores, Span span, float* max, float* sum) {
  const __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
  const __m256i before = _mm256_set1_epi32(static_cast<int>(span.begin) - 1);
  const __m256i end = _mm256_set1_epi32(static_cast<int>(span.end));
  const uint32_t start = span.begin / kLanes * kLanes;
  __m256 largest = _mm256_set1_ps(*max);
  for (uint32_t at = start; at < span.end; at += kLanes) {
    const __m256i position = _mm256_add_epi32(_mm256_set1_epi32(static_cast<int>(at)), lane);
    const __m256i seen =
        _mm256_and_si256(_mm256_cmpgt_epi32(position, before), _mm256_cmpgt_epi32(end, position));
    const __m256 s = _mm256_blendv_ps(_mm256_set1_ps(-__builtin_inff()), _mm256_loadu_ps(scores + at),
                                      _mm256_castsi256_ps(seen));
    _mm256_storeu_ps(scores + at, s);
    largest = _mm256_max_ps(s, largest);  // passes over a NaN
  }
  const float next = max_lanes(largest);
  const __m256 shift = _mm256_set1_ps(next);
  __m256 total = _mm256_setzero_ps();
  for (uint32_t at = start; at < span.end; at += kLanes) {
    const __m256 weight = exp_not_large_avx2(_mm256_sub_ps(_mm256_loadu_ps(scores + at), shift));
    _mm256_storeu_ps(scores + at, weight);
    total = _mm256_add_ps(total, weight);
  }
  const float factor = _mm256_cvtss_f32(exp_not_large_avx2(_mm256_set1_ps(*max - next)));
  *sum = *sum * factor + sum_lanes(total);
  *max = next;
  return factor;
}

/// out[i][column] = factor[i] * out[i][column] + sum over the span of weights[i][p] * values[p][column], in
/// order of p, for Q heads and 8 C columns, or the first `columns` of 8. factor null: out starts from 0 and
/// is not read.
template <uint32_t Q, uint32_t C, class T>
MOTE_OWN_REGISTERS static void weigh_columns(const float* weights, const T* values, uint32_t width, Span span,
                                             const float* factor, float* out, uint32_t columns = kLanes) {
  __m256 sum[Q][C];
  MOTE_UNROLL for (uint32_t i = 0; i < Q; ++i) {
    MOTE_UNROLL for (uint32_t c = 0; c < C; ++c) {
      sum[i][c] = _mm256_setzero_ps();
      if (factor == nullptr) continue;
      sum[i][c] = _mm256_mul_ps(_mm256_set1_ps(factor[i]), load_first(out + i * width + c * kLanes, columns));
    }
  }
  for (uint32_t p = span.begin; p < span.end; ++p) {
    const T* row = values + static_cast<size_t>(p) * width;
    __m256 weight[Q];
    MOTE_UNROLL for (uint32_t i = 0; i < Q; ++i) weight[i] =
        _mm256_broadcast_ss(weights + i * kAttentionTile + p);
    MOTE_UNROLL for (uint32_t c = 0; c < C; ++c) {
      const bool whole = C > 1 || columns == kLanes;
      const __m256 value = whole ? load8(row + c * kLanes) : load_first(row, columns);
      MOTE_UNROLL for (uint32_t i = 0; i < Q; ++i) sum[i][c] = _mm256_fmadd_ps(weight[i], value, sum[i][c]);
    }
  }
  MOTE_UNROLL for (uint32_t i = 0; i < Q; ++i) {
    MOTE_UNROLL for (uint32_t c = 0; c < C; ++c)
        store_first(out + i * width + c * kLanes, columns, sum[i][c]);
  }
}

/// As above for all columns from `at` on: C vectors at a time, then half as many.
template <uint32_t Q, uint32_t C, class T>
static void weigh_values(const float* weights, const T* values, uint32_t width, Span span,
                         const float* factor, float* out, uint32_t at = 0) {
  for (; at + C * kLanes <= width; at += C * kLanes) {
    weigh_columns<Q, C>(weights, values + at, width, span, factor, out + at);
  }
  if constexpr (C > 1) {
    weigh_values<Q, C / 2>(weights, values, width, span, factor, out, at);
  } else if (at < width) {
    weigh_columns<Q, 1>(weights, values + at, width, span, factor, out + at, width - at);
  }
}

/// The rows of a work unit, and the running maximum and sum of each of their n heads. Scratch holds these
/// after the scores: [rows * n][kAttentionTile].
struct RowBlock {
  uint32_t kv_head;
  uint32_t begin, end;
  uint32_t heads;  // n
  float* scores;
  float* max;
  float* sum;
};

/// Scores of rows [first, end), all of one sequence, over the span of the tile that any of them sees.
template <class T>
static void score_rows(const AttentionArgs& args, const RowBlock& block, uint32_t first, uint32_t end,
                       Span span, const T* keys) {
  const uint32_t width = args.cache.head_dim;
  const uint32_t queries = (end - first) * block.heads;
  for (uint32_t begin = 0; begin < queries; begin += kMaxQueries) {
    const uint32_t count = queries - begin < kMaxQueries ? queries - begin : kMaxQueries;
    const float* q[kMaxQueries];
    for (uint32_t i = 0; i < count; ++i) {
      const uint32_t head = block.kv_head * block.heads + (begin + i) % block.heads;
      q[i] = args.q[first + (begin + i) / block.heads] + head * width;
    }
    float* scores =
        block.scores + static_cast<size_t>((first - block.begin) * block.heads + begin) * kAttentionTile;
    switch (count) {
      case 1:
        score_span<1, 4>(q, keys, width, args.scale, span, scores);
        break;
      case 2:
        score_span<2, 2>(q, keys, width, args.scale, span, scores);
        break;
      case 3:
        score_span<3, 2>(q, keys, width, args.scale, span, scores);
        break;
      default:
        score_span<4, 1>(q, keys, width, args.scale, span, scores);
        break;
    }
  }
}

/// The bias of a query over the tile.
static inline const float* tile_bias(const AttentionArgs& args, uint32_t row, uint32_t head, uint32_t tile) {
  const uint32_t to_zero = args.bias_reach - 1 - static_cast<uint32_t>(args.positions[row]);
  return args.bias + head * (2 * static_cast<size_t>(args.bias_reach) - 1) + to_zero + tile;
}

/// Weighs the values of a tile into a row's output, its heads in groups.
template <class T>
static void weigh_row(const AttentionArgs& args, const RowBlock& block, uint32_t row, uint32_t tile,
                      Span span, bool first_tile, const T* values) {
  const uint32_t width = args.cache.head_dim;
  float* out = args.out[row] + block.kv_head * block.heads * width;
  for (uint32_t begin = 0; begin < block.heads; begin += kMaxQueries) {
    const uint32_t count = block.heads - begin < kMaxQueries ? block.heads - begin : kMaxQueries;
    const size_t query = (row - block.begin) * block.heads + begin;
    float* scores = block.scores + query * kAttentionTile;
    float factors[kMaxQueries];
    for (uint32_t i = 0; i < count; ++i) {
      float* own = scores + i * kAttentionTile;
      const uint32_t head = block.kv_head * block.heads + begin + i;
      if (args.bias != nullptr) add_bias(own, tile_bias(args, row, head, tile), span);
      factors[i] = weigh_scores(own, span, &block.max[query + i], &block.sum[query + i]);
    }
    const float* factor = first_tile ? nullptr : factors;
    switch (count) {
      case 1:
        weigh_values<1, 8>(scores, values, width, span, factor, out + begin * width);
        break;
      case 2:
        weigh_values<2, 4>(scores, values, width, span, factor, out + begin * width);
        break;
      case 3:
        weigh_values<3, 4>(scores, values, width, span, factor, out + begin * width);
        break;
      default:
        weigh_values<4, 2>(scores, values, width, span, factor, out + begin * width);
        break;
    }
  }
}

/// Rows [first, end), all of one sequence, over the tile of positions that starts at `tile`.
template <class T>
static void attend_tile(const AttentionArgs& args, const RowBlock& block, uint32_t first, uint32_t end,
                        uint32_t tile) {
  Span all = {kAttentionTile, 0};
  bool first_tile;
  for (uint32_t row = first; row < end; ++row) {
    const Span span = visible(args, row, tile, &first_tile);
    if (span.empty()) continue;
    if (span.begin < all.begin) all.begin = span.begin;
    if (span.end > all.end) all.end = span.end;
  }
  if (all.empty()) return;

  const KvCacheView& cache = args.cache;
  const size_t head = static_cast<size_t>(args.sequences[first]) * cache.kv_heads + block.kv_head;
  const size_t start = (head * cache.capacity + tile % cache.capacity) * cache.head_dim;
  const T* values = static_cast<const T*>(cache.values) + start;
  score_rows(args, block, first, end, all, static_cast<const T*>(cache.keys) + start);
  for (uint32_t row = first; row < end; ++row) {
    const Span span = visible(args, row, tile, &first_tile);
    if (!span.empty()) weigh_row(args, block, row, tile, span, first_tile, values);
  }
}

static inline void divide_by_sums(const AttentionArgs& args, const RowBlock& block) {
  const uint32_t width = args.cache.head_dim;
  for (uint32_t row = block.begin; row < block.end; ++row) {
    for (uint32_t i = 0; i < block.heads; ++i) {
      float* out = args.out[row] + (block.kv_head * block.heads + i) * width;
      const __m256 sum = _mm256_set1_ps(block.sum[(row - block.begin) * block.heads + i]);
      for (uint32_t e = 0; e < width; e += kLanes) {
        store_first(out + e, width - e, _mm256_div_ps(load_first(out + e, width - e), sum));
      }
    }
  }
}

template <class T>
static void attend_rows(const AttentionArgs& args, const RowBlock& block) {
  uint32_t tiles_begin = UINT32_MAX;
  uint32_t tiles_end = 0;
  for (uint32_t row = block.begin; row < block.end; ++row) {
    const uint32_t end = static_cast<uint32_t>(args.last_seen[row]) + 1;
    const uint32_t begin = args.window != 0 && end > args.window ? end - args.window : 0;
    if (begin < tiles_begin) tiles_begin = begin / kAttentionTile * kAttentionTile;
    if (end > tiles_end) tiles_end = end;
  }
  for (uint32_t i = 0; i < (block.end - block.begin) * block.heads; ++i) {
    block.max[i] = -FLT_MAX;
    block.sum[i] = 0.0f;
  }
  for (uint32_t tile = tiles_begin; tile < tiles_end; tile += kAttentionTile) {
    for (uint32_t first = block.begin, end; first < block.end; first = end) {
      for (end = first + 1; end < block.end && args.sequences[end] == args.sequences[first];) ++end;
      attend_tile<T>(args, block, first, end, tile);
    }
  }
  divide_by_sums(args, block);
}

template <class T>
static void attention(const AttentionArgs& args, Range units, void* scratch) {
  assert(args.heads % args.cache.kv_heads == 0 && args.cache.capacity % kBlock == 0);
  const uint32_t row_blocks = (args.rows + kAttentionRowBlock - 1) / kAttentionRowBlock;
  RowBlock block = {};
  block.heads = args.heads / args.cache.kv_heads;
  const size_t queries = static_cast<size_t>(kAttentionRowBlock) * block.heads;
  block.scores = static_cast<float*>(scratch);
  block.max = block.scores + queries * kAttentionTile;
  block.sum = block.max + queries;
  for (uint32_t unit = units.begin; unit < units.end; ++unit) {
    block.kv_head = unit / row_blocks;
    block.begin = unit % row_blocks * kAttentionRowBlock;
    block.end = args.rows - block.begin < kAttentionRowBlock ? args.rows : block.begin + kAttentionRowBlock;
    attend_rows<T>(args, block);
  }
}

}  // namespace mote::avx2
