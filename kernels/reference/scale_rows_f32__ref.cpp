// SPDX-License-Identifier: Apache-2.0
//
// out = in * scale + residual.
#include "kernels/ops.h"

namespace mote::ref {

void scale_rows_f32(const ScaleRowsArgs& args, Range rows, void*) {
  for (uint32_t t = rows.begin; t < rows.end; ++t) {
    const float* in = args.in[t];
    const float* residual = args.residual.data == nullptr ? nullptr : args.residual[t];
    float* out = args.out[t];
    for (uint32_t k = 0; k < args.width; ++k) {
      const float product = in[k] * (args.scale == nullptr ? args.factor : args.scale[k]);
      out[k] = residual == nullptr ? product : product + residual[k];
    }
  }
}

}  // namespace mote::ref
