// SPDX-License-Identifier: Apache-2.0
//
// out[t] = a part of the columns of t's row in in. A copy: no family has a kernel of its own.
#include <string.h>

#include "kernels/ops.h"

namespace mote::ref {

void split_rows_f32(const SplitRowsArgs& args, Range rows, void*) {
  const size_t bytes = args.width * sizeof(float);
  uint32_t sequence = args.rows.first;
  for (uint32_t t = rows.begin; t < rows.end; ++t) {
    const auto i = static_cast<uint32_t>(args.positions[t]);
    uint32_t own = i / args.parts, part = i % args.parts;
    const uint32_t begin = args.firsts[t] - own;
    if (args.columns != 0) {
      uint32_t columns = args.columns;
      if (args.rows.grids != nullptr) {
        sequence = args.rows.sequence_of(t, sequence);
        columns = args.rows.grids[sequence].columns;
      }
      const uint64_t line = uint64_t{columns} * args.side;
      const auto y = static_cast<uint32_t>(i / line), x = static_cast<uint32_t>(i % line);
      own = y / args.side * columns + x / args.side;
      part = y % args.side * args.side + x % args.side;
    }
    if (own > static_cast<uint32_t>(args.last_seen[begin])) {
      memset(args.out[t], 0, bytes);
    } else {
      memcpy(args.out[t], args.in[begin + own] + size_t{part} * args.width, bytes);
    }
  }
}

}  // namespace mote::ref
