// SPDX-License-Identifier: Apache-2.0
//
// out[t] = places of a picture side by side. A copy: no family has a kernel of its own.
#include <string.h>

#include "kernels/ops.h"

namespace mote::ref {

void grid_gather_f32(const GridGatherArgs& args, Range rows, void*) {
  const size_t bytes = args.width * sizeof(float);
  uint32_t sequence = args.rows.first;
  for (uint32_t t = rows.begin; t < rows.end; ++t) {
    sequence = args.rows.sequence_of(t, sequence);
    const GridSize patches = args.rows.grids[sequence], from = args.in_order.size_of(patches);
    const uint32_t begin = args.rows.rows_in(sequence).begin + args.skip;
    const GridOrder::Place first =
        args.out_order.place_of(args.out_order.size_of(patches), t - args.rows.begin_out(sequence));
    float* out = args.out[t];
    for (uint32_t tap = 0; tap < args.reach * args.reach; ++tap, out += args.width) {
      const GridOrder::Place place{first.y * args.reach + tap % args.reach,
                                   first.x * args.reach + tap / args.reach};
      if (place.y < from.lines && place.x < from.columns) {
        memcpy(out, args.in[begin + args.in_order.row_of(from, place)], bytes);
      } else {
        memset(out, 0, bytes);
      }
    }
  }
}

}  // namespace mote::ref
