// SPDX-License-Identifier: Apache-2.0
//
// Contracts of the operations over pictures, as ops.h has them. A picture is a sequence's rows, behind the
// first `skip` ones, as places from left to right and then down, `columns` in a line; rows that fill no line
// are none of its places.
#pragma once

#include "kernels/rows.h"

namespace mote {

/// Where the sequences of a pass lie in two streams.
struct GridRows {
  const uint32_t* in_starts;   // [first + sequences + 1]
  const uint32_t* out_starts;  // the same
  uint32_t first;              // the first sequence of the pass; in and out begin with its rows

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
  GridRows rows;
  ConstRowsInLanes in;  // [rows, width]
  Rows out;             // [T, width]; not in
};

}  // namespace mote
