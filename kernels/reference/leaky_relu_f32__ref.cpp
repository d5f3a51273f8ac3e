// SPDX-License-Identifier: Apache-2.0
//
// out = in, times the slope below 0. One rounding: no family has a kernel of its own.
#include "kernels/ops.h"

namespace mote::ref {

void leaky_relu_f32(const LeakyReluArgs& args, Range rows, void*) {
  for (uint32_t t = rows.begin; t < rows.end; ++t) {
    const float* const in = args.in[t];
    float* const out = args.out[t];
    for (uint32_t i = 0; i < args.width; ++i) out[i] = in[i] < 0.0f ? args.slope * in[i] : in[i];
  }
}

}  // namespace mote::ref
