// SPDX-License-Identifier: Apache-2.0
//
// out = activation(in weight^T + bias) + residual; in q8g32 activations, weight q4mg32.
// Per group: acc = fma(scale_a * scale_w, nibble . q_a, acc), the dot product exact in int32, then
// acc = fma(minimum_w, scale_a * (sum of q_a), acc).
#include "kernels/reference/nibble.inl.h"
#include "kernels/reference/quantized_linear.inl.h"

namespace mote::ref {
namespace {

void accumulate(const SupercellQ4m& cell, size_t g, const ActivationGroup& x, float (&acc)[kPanelRows]) {
  for (uint32_t r = 0; r < kPanelRows; ++r) {
    int32_t dot = 0;
    for (uint32_t k = 0; k < kGroupColumns; ++k) dot += nibble(cell.nibbles[g], r, k) * x.q[k];
    acc[r] = __builtin_fmaf(x.scale * f32_from_f16(cell.scale[g][r]), static_cast<float>(dot), acc[r]);
    acc[r] = __builtin_fmaf(f32_from_f16(cell.minimum[g][r]), x.scale * static_cast<float>(x.sum), acc[r]);
  }
}

}  // namespace

void linear_q8g32_q4mg32(const LinearArgs& args, Range panels, void*) {
  quantized_linear<SupercellQ4m>(args, panels, accumulate);
}

}  // namespace mote::ref
