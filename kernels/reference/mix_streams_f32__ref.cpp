// SPDX-License-Identifier: Apache-2.0
//
// out_j = residual_j + sum over i of coefficients[j, i] * in_i. It is a thousandth of a layer's work, so no
// family has a faster kernel.
#include "kernels/ops.h"

namespace mote::ref {

void mix_streams_f32(const MixStreamsArgs& args, Range rows, void*) {
  for (uint32_t t = rows.begin; t < rows.end; ++t) {
    for (uint32_t j = 0; j < args.count; ++j) {
      const float* coefficients = args.coefficients[t] + j * args.inputs;
      const float* residual = args.residual[t] + j * args.width;
      float* out = args.out[t] + j * args.width;
      for (uint32_t k = 0; k < args.width; ++k) {
        float sum = 0.0f;
        for (uint32_t i = 0; i < args.inputs; ++i) sum += coefficients[i] * args.in[t][i * args.width + k];
        out[k] = residual[k] + sum;
      }
    }
  }
}

}  // namespace mote::ref
