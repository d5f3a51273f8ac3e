// SPDX-License-Identifier: Apache-2.0
//
// out = activation(in weight^T + bias) + residual; in q8g32 activations, weight q8g32.
// Per group: acc = fma(scale_a * scale_w, q_w . q_a, acc), the dot product exact in int32.
#include "kernels/reference/quantized_linear.inl.h"

namespace mote::ref {
namespace {

void accumulate(const SupercellQ8& cell, size_t g, const ActivationGroup& x, float (&acc)[kPanelRows]) {
  int32_t dot[kPanelRows] = {};
  for (uint32_t j = 0; j < kGroupColumns / 4; ++j) {
    for (uint32_t r = 0; r < kPanelRows; ++r) {
      for (uint32_t i = 0; i < 4; ++i) dot[r] += cell.q[g][j][r][i] * x.q[4 * j + i];
    }
  }
  for (uint32_t r = 0; r < kPanelRows; ++r) {
    acc[r] = __builtin_fmaf(x.scale * f32_from_f16(cell.scale[g][r]), static_cast<float>(dot[r]), acc[r]);
  }
}

}  // namespace

void linear_q8g32_q8g32(const LinearArgs& args, Range panels, void*) {
  quantized_linear<SupercellQ8>(args, panels, accumulate);
}

}  // namespace mote::ref
