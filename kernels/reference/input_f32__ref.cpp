// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "kernels/ops.h"

namespace mote::ref {

void input_f32(const InputArgs& args, Range rows, void*) {
  const size_t bytes = args.width * sizeof(float);
  for (uint32_t t = rows.begin; t < rows.end; ++t) {
    if (args.rows[t] == nullptr) {
      memset(args.out[t], 0, bytes);
    } else {
      memcpy(args.out[t], args.rows[t], bytes);
    }
  }
}

}  // namespace mote::ref
