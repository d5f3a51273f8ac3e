// SPDX-License-Identifier: Apache-2.0
//
// Linear with f32 activations: out[t][n] = fma over k of x[t][k] * w[n][k], in the order of k.
//
// A tile is R rows by P panels; each k loads P x 16 weights and broadcasts R inputs. The order of k is fixed,
// so only the outputs are independent chains, and few rows take several panels. The number of registers of V
// (floats.h) sets the tiles: 1 row x kLinearStreams panels, up to V::kFewRows x V::kFewPanels, up to
// V::kRows x V::kPanels, and fewer panels for those left over. A single row is bound by memory. There are no
// tails in k or in the columns: panels are padded to 16. Where V::kFused is false each product is rounded
// before it is added: the result then differs from the reference's, and is within (K + 1) 2^-24 sum |x w| of
// the exact sum, as the reference's is.
//
// Many rows multiply one block of columns of P panels before the next block. A block is at most 192 KiB, so
// that it fits L2 together with the next one; the sums are kept in scratch between blocks. Each tile
// prefetches its share of the next block from P panels side by side, because several streams use more of the
// memory bandwidth than one.
#pragma once

#include <string.h>

#include <type_traits>

#include "kernels/simd/linear_finish.inl.h"

namespace mote {
namespace {

/// From so many rows on weights are prefetched to L1.
constexpr uint32_t kFloatL1Rows = 25;
/// Columns multiplied in an iteration: the other instructions of an iteration compete with its multiply-adds.
constexpr uint32_t kTurnColumns = 2;
/// From kBlockRows rows on columns are taken in blocks of at most kBlockColumns.
constexpr uint32_t kBlockRows = 32, kBlockColumns = 1024;

/// Columns [begin, end) of a row.
struct ColumnBlock {
  uint32_t begin, end;
  uint32_t next_columns(uint32_t inputs) const {
    const uint32_t left = inputs - end, columns = end - begin;
    return left == 0 || columns < left ? columns : left;
  }
};

/// Columns of a block: all of them for few rows.
static inline uint32_t block_columns(const LinearArgs& args) {
  if (args.rows < kBlockRows || args.inputs <= kBlockColumns) return args.inputs;
  const uint32_t blocks = (args.inputs + kBlockColumns - 1) / kBlockColumns;
  return static_cast<uint32_t>(align_up((args.inputs + blocks - 1) / blocks, kTurnColumns));
}

/// Columns between two prefetches of a tile. With many rows prefetches are rare, so that they interrupt the
/// products less; with few rows they are frequent, so that the requests do not exceed those that a core keeps
/// in flight.
static inline uint32_t columns_of_asks(uint32_t rows) {
  return rows < 24 ? kTurnColumns : rows < 64 ? 8 : 32;
}

/// Prefetches the weights of the next block of columns, a line of each of P panels at a time. The rows of a
/// tile prefetch their share.
template <uint32_t P>
struct BlockAhead {
  const char* at;
  size_t panel_step, step;
  bool to_l1;

  void prefetch() {
    for (uint32_t p = 0; p < P; ++p) {
      if (to_l1) {
        __builtin_prefetch(at + p * panel_step, 0, 3);
      } else {
        __builtin_prefetch(at + p * panel_step, 0, 2);
      }
    }
    at += step;
  }
};

/// A tile of R rows by the P panels `panel`, `panel` + stride, ... of weights T, float or IEEE half, for one
/// block of columns. The sums are read from `sums` unless the block is the first, and are stored there unless
/// it is the last. Finish are the vectors of linear_finish: a family takes the same for one row and for many,
/// so that the bits are equal.
template <class V, class T, class Finish, uint32_t R, uint32_t P>
void float_tile(const LinearArgs& args, uint32_t panel, uint32_t stride, uint32_t row, ColumnBlock block,
                PanelSums<R>* sums) {
  constexpr DType kDType = std::is_same_v<T, float> ? DType::f32 : DType::f16;
  const size_t row_step = args.in_stride_bytes,
               panel_step = static_cast<size_t>(stride * panel_bytes(kDType, args.inputs));
  // One pointer serves three rows or panels: an address holds the step once or twice. With a pointer for
  // each, GCC 12 keeps some of them in vector registers. The empty asm statements below keep GCC from
  // deriving one pointer from another.
  const char* in[(R + 2) / 3];
  const char* weights[(P + 2) / 3];
  typename V::Float acc[R][P * V::kVectors];
  for (uint32_t p = 0; p < P; p += 3)
    weights[p / 3] = linear_panel(args, kDType, panel + p * stride) + block.begin * kPanelRows * sizeof(T);
  for (uint32_t r = 0; r < R; r += 3) in[r / 3] = linear_row(args, row + r) + block.begin * sizeof(float);
  PanelSums<R> own[P];
  if (sums == nullptr) sums = own;
  const auto sum_at = [&](uint32_t r, uint32_t v)
                          MOTE_INLINE { return sums[v / V::kVectors].row[r] + v % V::kVectors * V::kLanes; };
  if (block.begin == 0) memset(sums, 0, P * sizeof *sums);
  MOTE_UNROLL for (uint32_t r = 0; r < R; ++r) {
    MOTE_UNROLL for (uint32_t v = 0; v < P * V::kVectors; ++v) acc[r][v] = V::load(sum_at(r, v));
  }
  const bool last = block.end == args.inputs;
  for (uint32_t p = 0; p < P && last; ++p) ask_for_outputs<R>(args, panel + p * stride, row);
  constexpr bool kAsks = R > 1 || P < kLinearStreams;
  constexpr size_t kColumnBytes = kPanelRows * sizeof(T);
  const uint32_t columns = block.end - block.begin;
  uint32_t ask_columns = columns;
  size_t prefetches = 0;
  BlockAhead<P> ahead = {};
  if (kAsks && columns != 0) {
    ask_columns = columns_of_asks(args.rows);
    prefetches = (ask_columns * R * kColumnBytes / 64 + args.rows - 1) / args.rows;
    const size_t bytes = block.next_columns(args.inputs) * kColumnBytes, own = bytes * R / args.rows;
    const size_t times = (columns + ask_columns - 1) / ask_columns * prefetches;
    ahead.at = last ? linear_panel(args, kDType, panel + P) : weights[0] + columns * kColumnBytes;
    ahead.at += bytes * row / args.rows;
    ahead.panel_step = panel_step;
    ahead.step = (own + times - 1) / times;
    ahead.to_l1 = args.rows >= kFloatL1Rows;
  }
  // Multiplies `turns` times kColumns columns. It works on copies of the pointers, because GCC 12 keeps
  // captured variables in memory.
  const auto multiply = [&](auto columns, uint32_t turns) MOTE_INLINE {
    constexpr uint32_t kColumns = columns;
    const char *x[(R + 2) / 3], *weight[(P + 2) / 3];
    MOTE_UNROLL for (uint32_t r = 0; r < R; r += 3) x[r / 3] = in[r / 3];
    MOTE_UNROLL for (uint32_t p = 0; p < P; p += 3) weight[p / 3] = weights[p / 3];
    for (; turns != 0; --turns) {
      MOTE_UNROLL for (uint32_t k = 0; k < kColumns; ++k) {
        typename V::Float w[P * V::kVectors];
        MOTE_UNROLL for (uint32_t v = 0; v < P * V::kVectors; ++v) {
          const uint32_t p = v / V::kVectors;
          w[v] = V::load(reinterpret_cast<const T*>(weight[p / 3] + p % 3 * panel_step) + k * kPanelRows +
                         v % V::kVectors * V::kLanes);
        }
        MOTE_UNROLL for (uint32_t r = 0; r < R; ++r) {
          const typename V::Float in_k =
              V::set(reinterpret_cast<const float*>(x[r / 3] + r % 3 * row_step)[k]);
          MOTE_UNROLL for (uint32_t v = 0; v < P * V::kVectors; ++v) acc[r][v] =
              V::fma(in_k, w[v], acc[r][v]);
        }
      }
      MOTE_UNROLL for (uint32_t p = 0; p < P; p += 3) {
        weight[p / 3] += kColumns * kPanelRows * sizeof(T);
        __asm__("" : "+r"(weight[p / 3]));
      }
      MOTE_UNROLL for (uint32_t r = 0; r < R; r += 3) {
        x[r / 3] += kColumns * sizeof(float);
        __asm__("" : "+r"(x[r / 3]));
      }
    }
    MOTE_UNROLL for (uint32_t r = 0; r < R; r += 3) in[r / 3] = x[r / 3];
    MOTE_UNROLL for (uint32_t p = 0; p < P; p += 3) weights[p / 3] = weight[p / 3];
  };
  for (uint32_t left = columns, now; left != 0; left -= now) {
    now = left < ask_columns ? left : ask_columns;
    for (size_t i = 0; i < prefetches; ++i) ahead.prefetch();
    multiply(std::integral_constant<uint32_t, kTurnColumns>(), now / kTurnColumns);
    multiply(std::integral_constant<uint32_t, 1>(), now % kTurnColumns);
  }
  MOTE_UNROLL for (uint32_t r = 0; r < R; ++r) {
    MOTE_UNROLL for (uint32_t v = 0; v < P * V::kVectors; ++v) V::store(sum_at(r, v), acc[r][v]);
  }
  for (uint32_t p = 0; p < P && last; ++p)
    linear_finish<Finish>(args, row, R, panel + p * stride, sums[p].row[0]);
}

/// All rows, R at a time, multiply a block of columns of P panels before the next block.
template <class V, class T, class Finish, uint32_t R, uint32_t P>
uint32_t float_panels(const LinearArgs& args, Range panels, void* scratch) {
  const uint32_t columns = block_columns(args);
  for (; panels.begin + P <= panels.end; panels.begin += P) {
    ColumnBlock block = {0, columns};
    do {
      each_tile<R>(args.rows, [&](auto rows, uint32_t row) {
        auto* sums = static_cast<PanelSums<1>*>(scratch) + row * P;
        float_tile<V, T, Finish, rows, P>(
            args, panels.begin, 1, row, block,
            columns == args.inputs ? nullptr : reinterpret_cast<PanelSums<rows>*>(sums));
      });
      block = {block.end, block.end + block.next_columns(args.inputs)};
    } while (block.begin < args.inputs);
  }
  return panels.begin;
}

/// The sums of a tile's panels by all rows, kept between blocks of columns.
template <class V, class T, class Finish = V>
constexpr uint64_t linear_float_scratch(const ScratchShape& shape) {
  if (shape.rows < kBlockRows || shape.inputs <= kBlockColumns) return 0;
  return align_up(shape.rows * V::kPanels * sizeof(PanelSums<1>), kAlignment);
}

template <class V, class T, class Finish = V>
void linear_float(const LinearArgs& args, Range panels, void* scratch) {
  static_assert(CheckFloats<V>::kPasses);
  if (args.rows == 1) {
    panels = each_of_streams(args, panels, [&](uint32_t panel, uint32_t stride) {
      float_tile<V, T, Finish, 1, kLinearStreams>(args, panel, stride, 0, {0, args.inputs}, nullptr);
    });
  } else if (args.rows <= V::kFewRows) {
    panels.begin = float_panels<V, T, Finish, V::kFewRows, V::kFewPanels>(args, panels, scratch);
  } else if constexpr (V::kPanels > 1) {
    panels.begin = float_panels<V, T, Finish, V::kRows, V::kPanels>(args, panels, scratch);
    if constexpr (V::kPanels > 2)
      panels.begin = float_panels<V, T, Finish, V::kRows, 2>(args, panels, scratch);
  }
  float_panels<V, T, Finish, V::kRows, 1>(args, panels, scratch);
}

}  // namespace
}  // namespace mote
