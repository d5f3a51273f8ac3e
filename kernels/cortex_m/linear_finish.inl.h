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

}  // namespace mote::cortex_m
