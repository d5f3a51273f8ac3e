// SPDX-License-Identifier: Apache-2.0
//
// Where the operands of Linear lie, for the kernels of every family. Internal linkage: each file compiles
// them for its own instructions.
#pragma once

#include <type_traits>

#include "kernels/ops.h"

namespace mote {

/// A tile's sums of one panel.
template <uint32_t R>
struct alignas(64) PanelSums {
  float row[R][kPanelRows];
};

static inline const char* linear_panel(const LinearArgs& args, DType dtype, uint32_t panel) {
  return static_cast<const char*>(args.weight) + panel * panel_bytes(dtype, args.inputs);
}

/// Columns of a row of quantized activations, and where its groups' scales and sums are.
static inline size_t padded_columns(const LinearArgs& args) {
  return static_cast<size_t>(activation_padded(args.inputs));
}
static inline size_t scales_at(const LinearArgs& args) {
  return static_cast<size_t>(activation_scale_offset(args.inputs));
}
static inline size_t sums_at(const LinearArgs& args) {
  return static_cast<size_t>(activation_sum_offset(args.inputs));
}

static inline const char* linear_row(const LinearArgs& args, uint32_t row) {
  return static_cast<const char*>(args.in) + row * args.in_stride_bytes;
}

/// Calls step(first panel, panels from each to the next) for kLinearStreams panels at a time of a single row,
/// and returns the panels left over. A single row is bound by memory, and one sequential stream keeps too few
/// reads in flight: the range is cut in four parts that are read side by side, unless args.stream says that
/// it consists of streams already.
template <class Step>
static inline Range each_of_streams(const LinearArgs& args, Range panels, const Step& step) {
  const uint32_t length = (panels.end - panels.begin) / kLinearStreams;
  const uint32_t stride = args.stream != 0 ? args.stream : length;
  const uint32_t end = args.stream != 0 ? panels.end : panels.begin + length;
  for (uint32_t panel = panels.begin; panel < end; ++panel) step(panel, stride);
  return {args.stream != 0 ? end : panels.begin + length * kLinearStreams, panels.end};
}

/// Calls step(rows as a constant, row), for 1 to R rows.
template <uint32_t R, class Step>
static inline void tile_of(uint32_t rows, uint32_t row, const Step& step) {
  if (rows == R) {
    step(std::integral_constant<uint32_t, R>(), row);
  } else if constexpr (R > 1) {
    tile_of<R - 1>(rows, row, step);
  }
}

/// Calls step(number of rows as a constant, first row) for all rows, in tiles of R. Rows left over share the
/// rows of the last whole tile equally: a tile of one or two rows has too few sums to hide the latency of a
/// multiply-add.
template <uint32_t R, class Step>
static inline void each_tile(uint32_t rows, const Step& step) {
  uint32_t row = 0;
  for (; row + 2 * R <= rows; row += R) step(std::integral_constant<uint32_t, R>(), row);
  const uint32_t left = rows - row, half = left > R ? (left + 1) / 2 : left;
  tile_of<R>(half, row, step);
  tile_of<R>(left - half, row + half, step);
}

/// Stores of(scale, sum of the activations) for each group of each row, as tiles of R rows read it: tile by
/// tile, from `to` + its first row * groups on; in a tile group by group, its rows side by side.
template <uint32_t R, class T, class Of>
static inline void lay_out_groups(const LinearArgs& args, T* to, const Of& of) {
  const size_t groups = padded_columns(args) / kGroupColumns;
  each_tile<R>(args.rows, [&](auto rows, uint32_t row) {
    for (uint32_t r = 0; r < rows; ++r) {
      const char* in = linear_row(args, row + r);
      const auto* scale = reinterpret_cast<const float*>(in + activation_scale_offset(args.inputs));
      const auto* sum = reinterpret_cast<const int32_t*>(in + activation_sum_offset(args.inputs));
      for (size_t g = 0; g < groups; ++g) to[row * groups + g * rows + r] = of(scale[g], sum[g]);
    }
  });
}

/// Prefetches the weights after a tile's own, a few lines at a time between its multiplications. Where
/// several tiles read a panel, only the first would wait for memory; so each prefetches its rows' share of
/// the next panels. No line is left out, because the tile would stop at that line.
///
/// The prefetch goes to L1 where the rows are so many that the multiplications take longer than memory; with
/// fewer rows it goes to L2, which keeps more requests in flight.
struct WeightsAhead {
  const char* at;
  size_t step;
  bool to_l1;

  /// For a tile of `rows` rows by the `panels` panels from `panel` on, which prefetches as often as the
  /// panels have lines. To L1 from `l1_rows` rows in all on.
  WeightsAhead(const LinearArgs& args, DType dtype, uint32_t panel, uint32_t panels, uint32_t row,
               uint32_t rows, size_t prefetches, uint32_t l1_rows) {
    const size_t bytes = static_cast<size_t>(panels * panel_bytes(dtype, args.inputs)),
                 times = args.rows * prefetches;
    at = linear_panel(args, dtype, panel + panels) + bytes * row / args.rows;
    step = times == 0 ? 0 : (bytes * rows + times - 1) / times;
    to_l1 = args.rows >= l1_rows;
  }

  /// A cache line.
  __attribute__((always_inline)) void prefetch() {
    if (to_l1) {
      __builtin_prefetch(at, 0, 3);
    } else {
      __builtin_prefetch(at, 0, 2);
    }
    at += step;
  }
};

struct NothingAhead {
  void prefetch() {}
};

/// Prefetches, before the products of a tile of several rows, the lines that it will store to. With many rows
/// the output of the last layer has left L2, and stores that miss wait for one another.
template <uint32_t R>
static inline void ask_for_outputs(const LinearArgs& args, uint32_t panel, uint32_t row) {
  if (R == 1) return;
  for (uint32_t r = 0; r < R; ++r)
    __builtin_prefetch(args.out[row + r] + static_cast<size_t>(panel) * kPanelRows, 1, 3);
}

}  // namespace mote
