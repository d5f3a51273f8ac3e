// SPDX-License-Identifier: Apache-2.0
//
// Contracts of the operations over pictures, as ops.h has them. A picture is a sequence's rows, behind the
// first `skip` ones, as places from left to right and then down, `columns` in a line; rows that fill no line
// are none of its places.
#pragma once

#include "kernels/rows.h"

namespace mote {

/// The places of a picture.
struct GridSize {
  uint32_t lines, columns;
};

/// The ratio of a side's places to its patches; with `times` 0 pictures have one size.
struct GridScale {
  uint32_t times, every;

  uint32_t of(uint32_t patches) const { return (patches + every - 1) / every * times; }
};

/// Where the sequences of a pass lie in two streams.
struct GridRows {
  const uint32_t* in_starts;   // [first + sequences + 1]
  const uint32_t* out_starts;  // the same
  uint32_t first;              // the first sequence of the pass; in and out begin with its rows
  const GridSize* grids;       // [first + sequences] patches of pictures of any size

  /// Returns the places of a sequence that has rows for `places` of them, `columns` in a line where pictures
  /// have one size.
  GridSize size_of(uint32_t sequence, GridScale scale, uint32_t columns, uint32_t places) const {
    if (scale.times == 0) return {places / columns, columns};
    const uint32_t wide = scale.of(grids[sequence].columns), lines = scale.of(grids[sequence].lines);
    return {lines < places / wide ? lines : places / wide, wide};
  }

  /// Rows [begin, end) of in.
  struct Span {
    uint32_t begin, end;
  };
  Span rows_in(uint32_t sequence) const {
    return {in_starts[sequence] - in_starts[first], in_starts[sequence + 1] - in_starts[first]};
  }
  /// The first row of out.
  uint32_t begin_out(uint32_t sequence) const { return out_starts[sequence] - out_starts[first]; }
  /// That of row t of out; `from`: one that is not behind it.
  uint32_t sequence_of(uint32_t t, uint32_t from) const {
    while (out_starts[from + 1] - out_starts[first] <= t) ++from;
    return from;
  }
};

/// out[t] = the places of t's window side by side, line by line: what a linear makes a convolution in two
/// directions of. Windows have reach * reach places, are `step` apart and begin `before` places outside the
/// picture; out_columns fit in a line. Places outside the picture count as 0. Unit: an output row.
struct GridFramesArgs {
  uint32_t width;
  uint32_t columns;      // of in
  GridScale scale;       // of in; then columns and out_columns are those of no picture
  uint32_t out_columns;  // (columns + 2 * before - reach) / step + 1
  uint32_t reach, before, step;
  uint32_t skip;  // rows of a sequence of in in front of the picture
  GridRows rows;
  ConstRowsInLanes in;  // [rows, width]
  Rows out;             // [T, reach * reach * width]; not in
};

/// out[t] = the value of t's place in a picture of another size that is laid over in's corner on corner,
/// bilinear between its places, as PyTorch's interpolate computes with align_corners; 0 where one of both
/// pictures has no such place. Unit: an output row.
struct GridResizeArgs {
  uint32_t width;
  uint32_t columns;
  uint32_t out_columns;
  GridScale scale, out_scale;  // both with times, or none
  GridRows rows;
  ConstRowsInLanes in;  // [rows, width]
  Rows out;             // [T, width]; not in
};

/// x[t] += the table's row for t: the first `before` rows of a sequence and the last `after` have rows of
/// their own, at the ends of the table. Those between are patches, whose positions are the table's, of
/// stored.lines x stored.columns places, resized to the picture as PyTorch computes bicubic interpolation
/// without aligned corners: the four nearest places of each direction by cubic convolution (a = -0.75), those
/// outside being the nearest inside. Unit: a row.
struct GridPositionsArgs {
  const float* table;  // [before + stored.lines * stored.columns + after, width]
  uint32_t width;
  GridSize stored;
  uint32_t before, after;
  GridRows rows;  // in and out are x
  Rows x;         // [T, width]
};

/// An order of a picture's places as rows: window by window of `window` x `window` places, from left to right
/// and then down, and so inside each. Windows lie `shift` places further right and down than the picture,
/// whose first lines and columns follow behind its last ones, where each side has more than one window;
/// `window` 1 are lines. Sides are multiples of the window.
struct GridOrder {
  GridScale scale;  // of the patches
  uint32_t window;
  uint32_t shift;  // less than the window

  struct Place {
    uint32_t y, x;
  };
  GridSize size_of(GridSize patches) const { return {scale.of(patches.lines), scale.of(patches.columns)}; }
  uint32_t shift_of(GridSize size) const { return size.lines > window && size.columns > window ? shift : 0; }
  Place place_of(GridSize size, uint32_t row) const {
    const uint32_t area = window * window, across = size.columns / window, inside = row % area;
    const uint32_t y = row / area / across * window + inside / window + shift_of(size);
    const uint32_t x = row / area % across * window + inside % window + shift_of(size);
    return {y < size.lines ? y : y - size.lines, x < size.columns ? x : x - size.columns};
  }
  uint32_t row_of(GridSize size, Place place) const {
    const uint32_t back = shift_of(size), across = size.columns / window;
    const uint32_t y = place.y < back ? place.y + size.lines - back : place.y - back;
    const uint32_t x = place.x < back ? place.x + size.columns - back : place.x - back;
    return (y / window * across + x / window) * window * window + y % window * window + x % window;
  }
};

/// out[t] = `reach` x `reach` places of in side by side, column by column, from `reach` times t's place on;
/// zeros for those that in lacks. Unit: an output row.
struct GridGatherArgs {
  uint32_t width;
  uint32_t reach;
  GridOrder in_order, out_order;
  uint32_t skip;  // rows of a sequence of in in front of the picture
  GridRows rows;
  ConstRowsInLanes in;  // [rows, width]
  Rows out;             // [T, reach * reach * width]; not in
};

/// The ends of a picture that a window of GridOrder lies at, of a picture of several in each direction: 1 for
/// the lines', 2 for the last line.
inline uint32_t edges_of_window(GridSize size, uint32_t window, uint32_t index) {
  const uint32_t across = size.columns / window, down = size.lines / window;
  if (across == 1 || down == 1) return 0;
  return (index % across == across - 1 ? 1u : 0u) + (index / across == down - 1 ? 2u : 0u);
}

}  // namespace mote
