// SPDX-License-Identifier: Apache-2.0
//
// The end of a tile of Linear, over the vectors V (floats.h).
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
    } else {  // a loop, because the code of seven activations is large
      MOTE_ROLLED for (uint32_t v = 0; v < V::kVectors; ++v) finish(v);
    }
  }
}

template <class V>
void finish_tile(const LinearArgs& args, uint32_t row, uint32_t rows, uint32_t panel, const float* sums) {
  with_activation(args.activation, [&](auto kind) { finish_rows<V, kind>(args, row, rows, panel, sums); });
}

/// One call for all rows of a tile, not inlined: inlined, it would take registers from the sums, and each row
/// would wait for its activation. It holds the code of every activation, so a family whose kernels share one
/// copy specializes it for its vectors (x86/linear_finish.inl.h).
template <class V>
__attribute__((noinline)) void linear_finish(const LinearArgs& args, uint32_t row, uint32_t rows,
                                             uint32_t panel, const float* sums) {
  finish_tile<V>(args, row, rows, panel, sums);
}

/// The members of dots.h that are those of the family's floats F.
template <class F>
struct DotFloats {
  using Float = typename F::Float;
  static Float set(float value) { return F::set(value); }
  static Float mul(Float a, Float b) { return F::mul(a, b); }
  static Float add(Float a, Float b) { return F::add(a, b); }
  static Float load_first(const float* from, uint32_t lanes) { return F::load_first(from, lanes); }
  static void store_first(float* to, uint32_t lanes, Float v) { F::store_first(to, lanes, v); }
  static void finish(const LinearArgs& args, uint32_t row, uint32_t rows, uint32_t panel, const float* sums) {
    linear_finish<F>(args, row, rows, panel, sums);
  }
};

}  // namespace
}  // namespace mote
