// SPDX-License-Identifier: Apache-2.0
//
// out = activation(in weight^T + bias) + residual; in q8g32 activations, weight q4g32.
// Per group: acc = fma(scale_a * scale_w, (nibble - 8) . q_a, acc), the dot product exact in int32.
#include "kernels/reference/nibble.inl.h"
#include "kernels/reference/quantized_linear.inl.h"

namespace mote::ref {
namespace {

void accumulate(const SupercellQ4& cell, size_t g, const ActivationGroup& x, float (&acc)[kPanelRows]) {
  for (uint32_t r = 0; r < kPanelRows; ++r) {
    int32_t dot = 0;
    for (uint32_t k = 0; k < kGroupColumns; ++k) dot += (nibble(cell.nibbles[g], r, k) - 8) * x.q[k];
    acc[r] = __builtin_fmaf(x.scale * f32_from_f16(cell.scale[g][r]), static_cast<float>(dot), acc[r]);
  }
}

}  // namespace

void linear_q8g32_q4g32(const LinearArgs& args, Range panels, void*) {
  quantized_linear<SupercellQ4>(args, panels, accumulate);
}

}  // namespace mote::ref
