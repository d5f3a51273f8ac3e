// SPDX-License-Identifier: Apache-2.0
//
// Contracts of the operations over neighbouring rows of a sequence, as ops.h has them: convolutions over time
// and norms over it. Their rows are of groups (schema/mote.fbs).
#pragma once

#include "kernels/grid_ops.h"
#include "kernels/rows.h"

namespace mote {

/// Where the rows lie that an output row is made of: `taps` rows of its sequence in `in`, `dilation` apart,
/// `before` of them in front of the output row's own. Those outside the sequence count as 0.
struct TimeWindow {
  uint32_t taps;
  uint32_t before;
  uint32_t dilation;
  uint32_t ratio;            // rows of in from an output row's own to the next one's
  const uint32_t* firsts;    // [T], each output row's own row of in; null: the row of the same number
  const int32_t* positions;  // [T], of output rows in their sequence
  const int32_t* last_seen;  // [rows of in], the last position of each row's sequence

  /// Rows of in: [begin, end) of the sequence of output row t, and the first of the window, which may lie
  /// outside.
  struct Place {
    int64_t begin, end, first;
  };
  Place place(uint32_t t) const {
    const int64_t own = firsts == nullptr ? t : firsts[t];
    const int64_t begin = own - int64_t{positions[t]} * ratio;
    return {begin, begin + last_seen[begin] + 1, own - int64_t{before} * dilation};
  }
};

/// out[t] = the rows of t's window side by side: what a linear makes a convolution over time of. Unit: an
/// output row.
struct FramesArgs {
  uint32_t width;
  TimeWindow window;
  ConstRowsInLanes in;  // [rows, width]
  Rows out;             // [T, taps * width]
};

/// out[t] = the rows of t's sequence in `in` side by side whose numbers row i of the table has, i =
/// positions[t]; zeros for numbers that are none of 0..rows of the sequence - 1 and for i from `table_rows`
/// on. Unit: an output row.
struct GatherRowsArgs {
  uint32_t width;
  const float* table;  // [table_rows, taps]
  uint32_t table_rows;
  TimeWindow window;    // its taps; before is 0
  ConstRowsInLanes in;  // [rows, width]
  Rows out;             // [T, taps * width]; not in
};

/// Rows that stand for `parts` equal parts of the columns of another stream's rows, in order: out[t] =
/// columns [part * width, (part + 1) * width) of row own of t's sequence in `in`, own = i / parts and part =
/// i % parts, i = positions[t]. With `columns`, row i is the place (y, x) of a picture of columns * side
/// places in a line, own = y / side * columns + x / side and part = y % side * side + x % side; zeros where
/// the sequence has no row own. Unit: an output row.
struct SplitRowsArgs {
  uint32_t width;
  uint32_t parts;
  uint32_t columns;          // of places of in; 0: none
  uint32_t side;             // of the square that a place becomes, side * side == parts; else 0
  GridRows rows;             // with grids, columns are those of each picture's patches
  const uint32_t* firsts;    // [T], rows i / parts of the sequences in `in`
  const int32_t* positions;  // [T]
  const int32_t* last_seen;  // [rows of in], the last position of each row's sequence
  ConstRowsInLanes in;       // [rows, parts * width]
  Rows out;                  // [T, width]; not in
};

/// A depthwise convolution over time and, where a row has several places of `channels` columns, over those:
/// out[t][p][c] = activation(bias[c] + sum of weight[k][j][c] * in[own + (k - before) * dilation][p * step -
/// back + j][c]), summed in the order of k, then j. Places outside the row count as 0. Unit: an output row.
struct DepthwiseConvArgs {
  uint32_t channels;
  uint32_t places;      // of a row of in
  uint32_t out_places;  // of a row of out
  uint32_t reach;       // places of a window
  uint32_t back;        // of them in front of the output's own
  uint32_t step;        // places of in from an output place to the next
  Activation activation;
  TimeWindow window;
  const float* weight;  // [taps, reach, channels]
  const float* bias;    // [channels] or null
  ConstRowsInLanes in;  // [rows, places * channels]
  Rows out;             // [T, out_places * channels]; not in
};

/// out[t][i] = the sum over the positions p of the row's sequence, of n rows, in order, of cos(a) in[p][i] +
/// sin(a) in[p][width + i], a = 2 pi (t p mod n) / n, t the row's position: the real part of a discrete
/// Fourier transform of rows of real parts, then imaginary ones. A sequence's rows lie one after the other.
/// Unit: a row.
struct FourierArgs {
  uint32_t width;
  const int32_t* positions;  // [T]
  const int32_t* last_seen;  // [T], of each row's sequence
  ConstRowsInLanes in;       // [T, 2 * width]
  Rows out;                  // [T, width]; not in
};

/// Columns of a unit of norms over time whose groups are single columns.
inline constexpr uint32_t kTimeNormColumns = 64;

/// A group norm over the rows of a sequence (Wu and He 2018): of each of `groups` equal parts of the columns
/// the values of all rows of a sequence together have mean 0 and variance 1, eps in the root; then
/// activation(value * weight + bias). Sums are in double precision. out may be in. Unit: a part of a
/// sequence, or kTimeNormColumns parts of single columns.
struct TimeNormArgs {
  uint32_t width;
  uint32_t groups;
  float eps;
  Activation activation;
  const float* weight;     // [width]
  const float* bias;       // [width]
  const uint32_t* starts;  // [first + sequences + 1], first rows of sequences
  uint32_t first;          // the first sequence of the pass; in and out begin with its rows
  ConstRows in;            // [rows, width]
  Rows out;                // [rows, width]

  uint32_t columns_of_unit() const { return groups == width ? kTimeNormColumns : width / groups; }
  uint32_t units_of_sequence() const { return (width + columns_of_unit() - 1) / columns_of_unit(); }
};

/// out[t][i] = activation(in[t][i]). out may be in. Unit: a row.
struct ActivateArgs {
  Activation activation;
  uint32_t width;
  ConstRows in;  // [T, width]
  Rows out;      // [T, width]
};

/// out[t][i] = in[t][i], times the slope where it is negative (Maas et al. 2013). out may be in. Unit: a row.
struct LeakyReluArgs {
  uint32_t width;
  float slope;
  ConstRows in;  // [T, width]
  Rows out;      // [T, width]
};

/// A bin of a spline is at least so wide and so high, in shares of the square, and its slope at a knot at
/// least so large.
inline constexpr float kLeastBin = 1e-3f;
inline constexpr uint32_t kMaxBins = 128;

/// out[t] = the x that the row's monotonic rational-quadratic spline takes to in[t] (Durkan et al. 2019,
/// Neural Spline Flows, equations 4 to 8): out[t] = in[t] outside the square of sides +-bound, where slopes
/// are 1. `curve` has the logits of the bins' widths, then of their heights, whose softmaxes are scaled to
/// the square, then of the slopes at the knots between them, made positive by softplus. Values that are not
/// finite give some number or NaN. out may be in. Unit: a row.
struct SplineArgs {
  uint32_t bins;  // at most kMaxBins
  float bound;
  ConstRows in;     // [T, 1]
  ConstRows curve;  // [T, 3 * bins - 1]
  Rows out;         // [T, 1]
};

}  // namespace mote
