// SPDX-License-Identifier: Apache-2.0
//
// out = activation(in weight^T + bias) + residual; in q8c activations, weight q8c.
// fma(scale_a * scale_w, q_w . q_a, 0), the dot product over all of K exact in int32: K <= kMaxColumnsQ8c.
#include "kernels/reference/linear.inl.h"

namespace mote::ref {

void linear_q8c_q8c(const LinearArgs& args, Range panels, void*) {
  const size_t quads = static_cast<size_t>(activation_padded(args.inputs) / 4);
  each_panel(args, panels, [&](uint32_t panel) {
    const char* begin = static_cast<const char*>(args.weight) + panel * panel_bytes(DType::q8c, args.inputs);
    const auto* head = reinterpret_cast<const HeadQ8c*>(begin);
    const auto* weight = reinterpret_cast<const QuadQ8c*>(head + 1);
    for (uint32_t t = 0; t < args.rows; ++t) {
      const char* row = static_cast<const char*>(args.in) + t * args.in_stride_bytes;
      const auto* q = reinterpret_cast<const int8_t*>(row);
      const float scale =
          reinterpret_cast<const RowScale*>(row + activation_scale_offset(args.inputs))->scale;
      int32_t dot[kPanelRows] = {};
      for (size_t k = 0; k < 4 * quads; ++k) {
        for (uint32_t r = 0; r < kPanelRows; ++r) dot[r] += weight[k / 4].q[r][k % 4] * q[k];
      }
      float acc[kPanelRows];
      for (uint32_t r = 0; r < kPanelRows; ++r)
        acc[r] = __builtin_fmaf(scale * head->scale[r], static_cast<float>(dot[r]), 0.0f);
      finish_panel(args, t, panel, acc);
    }
  });
}

}  // namespace mote::ref
