// SPDX-License-Identifier: Apache-2.0
//
// out = activation(in weight^T + bias) + residual; in q8g32 activations, weight q6k.
// Per group: acc = fma(scale_a * scale_w, d, acc), d the sum of both halves' step_w * (q . q_a), exact: at
// most 2^24.
#include "kernels/reference/quantized_linear.inl.h"
#include "kernels/reference/wide.inl.h"

namespace mote::ref {
namespace {

void accumulate(const SupercellQ6k& cell, size_t g, const ActivationGroup& x, float (&acc)[kPanelRows]) {
  int8_t q[8][16][4];
  int32_t dots[2][kPanelRows] = {};
  decode_group(cell.q[g], q);
  add_quads(q, 4, x.q, dots[0]);
  add_quads(q + 4, 4, x.q + kGroupColumns / 2, dots[1]);
  for (uint32_t r = 0; r < kPanelRows; ++r) {
    const int32_t d = step(cell, g, r, 0) * dots[0][r] + step(cell, g, r, 1) * dots[1][r];
    acc[r] = __builtin_fmaf(x.scale * f32_from_f16(cell.scale[r]), static_cast<float>(d), acc[r]);
  }
}

}  // namespace

void linear_q8g32_q6k(const LinearArgs& args, Range panels, void*) {
  quantized_linear<SupercellQ6k, kWideGroups>(args, panels, accumulate);
}

}  // namespace mote::ref
