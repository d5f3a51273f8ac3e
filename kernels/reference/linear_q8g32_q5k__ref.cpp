// SPDX-License-Identifier: Apache-2.0
//
// out = activation(in weight^T + bias) + residual; in q8g32 activations, weight q5k.
#include "kernels/reference/quantized_linear.inl.h"
#include "kernels/reference/wide.inl.h"

namespace mote::ref {

void linear_q8g32_q5k(const LinearArgs& args, Range panels, void*) {
  quantized_linear<SupercellQ5k, kWideGroups>(args, panels, accumulate_with_minimum<SupercellQ5k>);
}

}  // namespace mote::ref
