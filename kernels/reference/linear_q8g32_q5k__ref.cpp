// SPDX-License-Identifier: Apache-2.0
//
// out = activation(in weight^T + bias) + residual; in q8g32 activations, weight q5k.
// Per group: acc = fma(scale_a * scale_w, q . q_a, acc), the dot product exact in int32, then
// acc = fma(minimum_w, scale_a * (sum of q_a), acc).
#include "kernels/reference/quantized_linear.inl.h"
#include "kernels/reference/wide.inl.h"

namespace mote::ref {
namespace {

void accumulate(const SupercellQ5k& cell, size_t g, const ActivationGroup& x, float (&acc)[kPanelRows]) {
  int8_t q[8][16][4];
  int32_t dot[kPanelRows] = {};
  decode_group(cell.q[g], q);
  add_quads(q, 8, x.q, dot);
  for (uint32_t r = 0; r < kPanelRows; ++r) {
    const ScaleAndMinimum w = scale_and_minimum(cell.scales, g, r);
    acc[r] = __builtin_fmaf(x.scale * w.scale, static_cast<float>(dot[r]), acc[r]);
    acc[r] = __builtin_fmaf(w.minimum, x.scale * static_cast<float>(x.sum), acc[r]);
  }
}

}  // namespace

void linear_q8g32_q5k(const LinearArgs& args, Range panels, void*) {
  quantized_linear<SupercellQ5k, kWideGroups>(args, panels, accumulate);
}

}  // namespace mote::ref
