// SPDX-License-Identifier: Apache-2.0
//
// Contracts of the operations over neighbouring rows of a sequence, as ops.h has them.
#pragma once

#include "kernels/ops.h"

namespace mote {

/// Where the rows lie that an output row is made of: `taps` rows of its sequence in `in`, from `before` in
/// front of the output row's own on. Those outside the sequence count as 0.
struct TimeWindow {
  uint32_t taps;
  uint32_t before;
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
    return {begin, begin + last_seen[begin] + 1, own - before};
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

}  // namespace mote
