// SPDX-License-Identifier: Apache-2.0
//
// Linear with f32 and f16 weights, panels [k][16]: one fma per weight, in the order of k.
#pragma once

#include "kernels/reference/element.inl.h"
#include "kernels/reference/linear.inl.h"

namespace mote::ref {

template <DType dtype, class Element>
static inline void float_linear(const LinearArgs& args, Range panels) {
  const ConstRows in = {static_cast<const float*>(args.in), args.in_stride_bytes};
  each_panel(args, panels, [&](uint32_t panel) {
    const char* begin = static_cast<const char*>(args.weight) + panel * panel_bytes(dtype, args.inputs);
    const auto* weight = reinterpret_cast<const Element(*)[kPanelRows]>(begin);
    for (uint32_t t = 0; t < args.rows; ++t) {
      float acc[kPanelRows] = {};
      for (uint32_t k = 0; k < args.inputs; ++k) {
        for (uint32_t r = 0; r < kPanelRows; ++r)
          acc[r] = __builtin_fmaf(in[t][k], load(weight[k][r]), acc[r]);
      }
      finish_panel(args, t, panel, acc);
    }
  });
}

}  // namespace mote::ref
