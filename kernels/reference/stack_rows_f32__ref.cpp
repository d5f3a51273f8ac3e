// SPDX-License-Identifier: Apache-2.0
//
// out[t] = the rows of in of group t side by side. A row is read and written once: no family has a kernel of
// its own.
#include <string.h>

#include "kernels/ops.h"

namespace mote::ref {

void stack_rows_f32(const StackRowsArgs& args, Range rows, void*) {
  for (uint32_t t = rows.begin; t < rows.end; ++t) {
    const uint32_t first = args.firsts[t], count = args.firsts[t + 1] - first;
    float* out = args.out[t];
    for (uint32_t i = 0; i < count; ++i, out += args.width) {
      memcpy(out, args.in[first + i], args.width * sizeof(float));
    }
    memset(out, 0, (args.ratio - count) * args.width * sizeof(float));
  }
}

}  // namespace mote::ref
