// SPDX-License-Identifier: Apache-2.0
//
// What ends a tile of Linear, over the vectors V (floats.h).
#pragma once

#include "kernels/simd/compiler.h"
#include "kernels/simd/elementary.inl.h"
#include "kernels/simd/linear_operands.inl.h"

namespace mote {
namespace {

/// Bias, activation and residual of one panel of `rows` rows from `row` on, then the store. Columns past N
/// are not touched.
template <class V, Activation kActivation>
void finish_rows(const LinearArgs& args, uint32_t row, uint32_t rows, uint32_t panel, const float* sums) {
  const uint32_t column = panel * kPanelRows, left = args.outputs - column;
  typename V::Float bias[V::kVectors];
  MOTE_UNROLL for (uint32_t v = 0; v < V::kVectors; ++v) {
    bias[v] = args.bias != nullptr ? V::load(args.bias + column + v * V::kLanes)
                                   : V::set(-0.0f);  // x + -0 is x, of -0 too
  }
  for (const float* sum = sums; sum != sums + rows * kPanelRows; sum += kPanelRows, ++row) {
    float* out = args.out[row] + column;
    const float* residual = args.residual.data == nullptr ? nullptr : args.residual[row] + column;
    const auto finish = [&](uint32_t v) MOTE_INLINE {
      const uint32_t at = v * V::kLanes, lanes = left > at ? left - at : 0;
      typename V::Float y = activate<V>(kActivation, V::add(V::load(sum + at), bias[v]));
      if (residual != nullptr) y = V::add(y, V::load_first(residual + at, lanes));
      V::store_first(out + at, lanes, y);
    };
    if constexpr (V::kVectors <= 2) {
      MOTE_UNROLL for (uint32_t v = 0; v < V::kVectors; ++v) finish(v);
    } else {
      MOTE_ROLLED for (uint32_t v = 0; v < V::kVectors; ++v) finish(v);  // seven activations are much code
    }
  }
}

/// One call for all rows of a tile: inline it would take registers from the sums, and a row alone waits for
/// its activation.
template <class V>
__attribute__((noinline)) void linear_finish(const LinearArgs& args, uint32_t row, uint32_t rows,
                                             uint32_t panel, const float* sums) {
  with_activation(args.activation, [&](auto kind) { finish_rows<V, kind>(args, row, rows, panel, sums); });
}

}  // namespace
}  // namespace mote
