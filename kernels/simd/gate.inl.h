// SPDX-License-Identifier: Apache-2.0
//
// out = activation(gate) * up, a vector V of columns at a time, the last under a mask; out may be gate or up.
// Against the reference: 2^-24 relative more than the activation's bound (elementary.inl.h).
// The loop is not unrolled: no iteration depends on the one before, and the division of the activations
// bounds it.
#pragma once

#include "kernels/simd/elementary.inl.h"

namespace mote {
namespace {

template <class V, Activation kind>
void gate_rows(const GateArgs& args, Range rows) {
  for (uint32_t t = rows.begin; t < rows.end; ++t) {
    const float* gate = args.gate[t];
    const float* up = args.up[t];
    float* out = args.out[t];
    for (uint32_t i = 0; i < args.width; i += V::kLanes) {
      const uint32_t left = args.width - i;
      const auto y = activate<V>(kind, V::load_first(gate + i, left));
      V::store_first(out + i, left, V::mul(y, V::load_first(up + i, left)));
    }
  }
}

/// Each gate for `part` columns.
template <class V, Activation kind>
void gate_parts(const GateArgs& args, Range rows) {
  const uint32_t part = args.width / args.gates;
  for (uint32_t t = rows.begin; t < rows.end; ++t) {
    for (uint32_t g = 0; g < args.gates; ++g) {
      const auto y = activate<V>(kind, V::set(args.gate[t][g]));
      const float* up = args.up[t] + size_t{g} * part;
      float* out = args.out[t] + size_t{g} * part;
      for (uint32_t i = 0; i < part; i += V::kLanes)
        V::store_first(out + i, part - i, V::mul(y, V::load_first(up + i, part - i)));
    }
  }
}

template <class V>
void gate(const GateArgs& args, Range rows, void*) {
  static_assert(CheckFloats<V>::kPasses);
  with_activation(args.activation, [&](auto kind) {
    return args.gates == args.width ? gate_rows<V, kind>(args, rows) : gate_parts<V, kind>(args, rows);
  });
}

}  // namespace
}  // namespace mote
