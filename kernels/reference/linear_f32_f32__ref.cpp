// SPDX-License-Identifier: Apache-2.0
//
// out = activation(in weight^T + bias) + residual; in f32, weight f32.
#include "kernels/reference/float_linear.inl.h"

namespace mote::ref {

void linear_f32_f32(const LinearArgs& args, Range panels, void*) {
  float_linear<DType::f32, float>(args, panels);
}

}  // namespace mote::ref
