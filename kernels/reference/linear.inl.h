// SPDX-License-Identifier: Apache-2.0
//
// The functions that the linear kernels of all weight types share: the quantized input row, and bias,
// activation and residual.
#pragma once

#include "kernels/ops.h"
#include "kernels/reference/activation.inl.h"
#include "schema/f16.h"

namespace mote::ref {

/// A row of q8g32 activations (block_formats.h).
struct QuantizedRow {
  const int8_t* q;
  const float* scale;  // per group
  const int32_t* sum;  // per group
};

static inline QuantizedRow quantized_row(const LinearArgs& args, uint32_t row) {
  const char* begin = static_cast<const char*>(args.in) + row * args.in_stride_bytes;
  return {reinterpret_cast<const int8_t*>(begin),
          reinterpret_cast<const float*>(begin + activation_scale_offset(args.inputs)),
          reinterpret_cast<const int32_t*>(begin + activation_sum_offset(args.inputs))};
}

/// out = activation(dots + bias) + residual for a row's outputs of one panel, the padding left out.
static inline void finish_panel(const LinearArgs& args, uint32_t row, uint32_t panel,
                                const float (&dots)[kPanelRows]) {
  for (uint32_t r = 0; r < kPanelRows; ++r) {
    const uint32_t n = panel * kPanelRows + r;
    if (n >= args.outputs) return;
    float value = dots[r];
    if (args.bias != nullptr) value += args.bias[n];
    value = activate(args.activation, value);
    if (args.residual.data != nullptr) value += args.residual[row][n];
    args.out[row][n] = value;
  }
}

/// each(panel) for the panels of the units.
template <class Each>
static inline void each_panel(const LinearArgs& args, Range units, Each each) {
  const uint32_t streams = args.stream != 0 ? kLinearStreams : 1;
  for (uint32_t unit = units.begin; unit < units.end; ++unit) {
    for (uint32_t i = 0; i < streams; ++i) each(unit + i * args.stream);
  }
}

}  // namespace mote::ref
