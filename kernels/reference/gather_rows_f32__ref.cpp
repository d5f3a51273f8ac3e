// SPDX-License-Identifier: Apache-2.0
//
// out[t] = the rows of t's sequence side by side that the table names. A copy: no family has a kernel of its
// own.
#include <string.h>

#include "kernels/ops.h"

namespace mote::ref {

void gather_rows_f32(const GatherRowsArgs& args, Range rows, void*) {
  const size_t bytes = args.width * sizeof(float);
  for (uint32_t t = rows.begin; t < rows.end; ++t) {
    const TimeWindow::Place place = args.window.place(t);
    const auto position = static_cast<uint32_t>(args.window.positions[t]);
    const auto count = static_cast<float>(place.end - place.begin);
    const float* numbers = args.table + size_t{position} * args.window.taps;
    float* out = args.out[t];
    for (uint32_t tap = 0; tap < args.window.taps; ++tap, out += args.width) {
      // A number that is NaN is none.
      if (position < args.table_rows && numbers[tap] >= 0.0f && numbers[tap] < count) {
        memcpy(out, args.in[static_cast<uint32_t>(place.begin) + static_cast<uint32_t>(numbers[tap])], bytes);
      } else {
        memset(out, 0, bytes);
      }
    }
  }
}

}  // namespace mote::ref
