// SPDX-License-Identifier: Apache-2.0
//
// out[t] = the places of a window side by side. A copy: no family has a kernel of its own.
#include <string.h>

#include "kernels/ops.h"

namespace mote::ref {
namespace {

/// Returns the windows in a line of so many places, at least 1.
uint32_t columns_of(const GridFramesArgs& args, uint32_t columns) {
  const uint32_t room = columns + 2 * args.before;
  return room < args.reach ? 1 : (room - args.reach) / args.step + 1;
}

}  // namespace

void grid_frames_f32(const GridFramesArgs& args, Range rows, void*) {
  const size_t bytes = args.width * sizeof(float);
  uint32_t sequence = args.rows.first;
  for (uint32_t t = rows.begin; t < rows.end; ++t) {
    sequence = args.rows.sequence_of(t, sequence);
    const GridRows::Span span = args.rows.rows_in(sequence);
    const uint32_t count = span.end - span.begin, begin = span.begin + args.skip;
    const uint32_t places = count < args.skip ? 0 : count - args.skip;
    const GridSize size = args.rows.size_of(sequence, args.scale, args.columns, places);
    const uint32_t out_columns = args.scale.times == 0 ? args.out_columns : columns_of(args, size.columns);
    const uint32_t place = t - args.rows.begin_out(sequence);
    const int64_t top = int64_t{place / out_columns} * args.step - args.before;
    const int64_t left = int64_t{place % out_columns} * args.step - args.before;
    float* out = args.out[t];
    for (int64_t y = top; y < top + args.reach; ++y) {
      for (int64_t x = left; x < left + args.reach; ++x, out += args.width) {
        if (y >= 0 && y < size.lines && x >= 0 && x < size.columns) {
          memcpy(out, args.in[begin + static_cast<uint32_t>(y * size.columns + x)], bytes);
        } else {
          memset(out, 0, bytes);
        }
      }
    }
  }
}

}  // namespace mote::ref
