// SPDX-License-Identifier: Apache-2.0
//
// out[t] = the rows of t's window side by side. A copy: no family has a kernel of its own.
#include <string.h>

#include "kernels/ops.h"

namespace mote::ref {

void frames_f32(const FramesArgs& args, Range rows, void*) {
  const size_t bytes = args.width * sizeof(float);
  for (uint32_t t = rows.begin; t < rows.end; ++t) {
    const TimeWindow::Place place = args.window.place(t);
    float* out = args.out[t];
    for (uint32_t tap = 0; tap < args.window.taps; ++tap, out += args.width) {
      const int64_t row = place.first + int64_t{tap} * args.window.dilation;
      if (row < place.begin || row >= place.end) {
        memset(out, 0, bytes);
      } else {
        memcpy(out, args.in[static_cast<uint32_t>(row)], bytes);
      }
    }
  }
}

}  // namespace mote::ref
