// SPDX-License-Identifier: Apache-2.0
//
// Bias, activation and residual, most often none but the last.
#pragma once

#include "kernels/reference/linear.inl.h"

namespace mote::cortex_m {

/// out = activation(dots + bias) + residual for the outputs [first, first + count) of a row.
static inline void finish_outputs(const LinearArgs& args, uint32_t row, uint32_t first, uint32_t count,
                                  const float* dots) {
  float* out = args.out[row] + first;
  const float* residual = args.residual.data == nullptr ? nullptr : args.residual[row] + first;
  if (args.bias == nullptr && args.activation == Activation::none) {
    for (uint32_t i = 0; i < count; ++i) out[i] = residual == nullptr ? dots[i] : dots[i] + residual[i];
    return;
  }
  for (uint32_t i = 0; i < count; ++i) {
    float value = dots[i];
    if (args.bias != nullptr) value += args.bias[first + i];
    value = ref::activate(args.activation, value);
    out[i] = residual == nullptr ? value : value + residual[i];
  }
}

/// How many of the rows [first, first + block) of a weight are outputs.
static inline uint32_t outputs_of(const LinearArgs& args, uint32_t first, uint32_t block) {
  if (first >= args.outputs) return 0;
  return args.outputs - first < block ? args.outputs - first : block;
}

/// Where a whole block of outputs may be stored as it is; null where it must be finished.
static inline float* plain_outputs(const LinearArgs& args, uint32_t row, uint32_t first, bool whole) {
  const bool plain =
      args.bias == nullptr && args.activation == Activation::none && args.residual.data == nullptr;
  return plain && whole ? args.out[row] + first : nullptr;
}

/// For the panels of the units, whose weights are so many Supercells: run(weight, count, out) computes count
/// outputs of a row, and where they may not be stored as they are, finish(output, count, out) does the rest.
template <class Supercell, class Run, class Finish>
static inline void each_panel_of_cells(const LinearArgs& args, uint32_t row, Range panels, size_t cells,
                                       const Run& run, const Finish& finish) {
  ref::each_panel(args, panels, [&](uint32_t panel) {
    const auto* weight = static_cast<const Supercell*>(args.weight) + panel * cells;
    const uint32_t output = panel * kPanelRows;
    const uint32_t count = outputs_of(args, output, kPanelRows);
    float acc[kPanelRows];
    float* plain = plain_outputs(args, row, output, count == kPanelRows);
    run(weight, count, plain != nullptr ? plain : acc);
    if (plain == nullptr) finish(output, count, acc);
  });
}

/// Linear with weights of q8c, kBlock outputs at a time: block(panel, first, in, columns, scale, acc), `in`
/// being operand(q, columns) of a row.
template <uint32_t kBlock, class Operand, class Block>
static inline void linear_q8c(const LinearArgs& args, Range panels, const Operand& operand,
                              const Block& block) {
  const auto columns = static_cast<uint32_t>(activation_padded(args.inputs));
  for (uint32_t t = 0; t < args.rows; ++t) {
    const char* row = static_cast<const char*>(args.in) + t * args.in_stride_bytes;
    const float scale = reinterpret_cast<const RowScale*>(row + activation_scale_offset(args.inputs))->scale;
    const auto* in = operand(reinterpret_cast<const int8_t*>(row), columns);
    ref::each_panel(args, panels, [&](uint32_t panel) {
      const char* weight =
          static_cast<const char*>(args.weight) + panel * panel_bytes(DType::q8c, args.inputs);
      for (uint32_t first = 0; first < kPanelRows; first += kBlock) {
        const uint32_t output = panel * kPanelRows + first;
        const uint32_t count = outputs_of(args, output, kBlock);
        if (count == 0) return;
        float acc[kBlock];
        block(weight, first, in, columns, scale, acc);
        finish_outputs(args, t, output, count, acc);
      }
    });
  }
}

}  // namespace mote::cortex_m
