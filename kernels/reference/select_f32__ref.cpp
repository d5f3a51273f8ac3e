// SPDX-License-Identifier: Apache-2.0
//
// out[i] = in[selected[i]].
#include <string.h>

#include "kernels/ops.h"

namespace mote::ref {

void select_f32(const SelectArgs& args, Range rows, void*) {
  for (uint32_t i = rows.begin; i < rows.end; ++i) {
    const uint32_t row = args.selected[i] - args.first;
    if (row < args.rows) memcpy(args.out[i], args.in[row], args.width * sizeof(float));
  }
}

}  // namespace mote::ref
