// SPDX-License-Identifier: Apache-2.0
//
// out = activation(gate) * up of any activation and any width of a gate, by the FPU. Against the reference:
// 2^-24 relative more than the activation's bound.
#pragma once

#include "kernels/cortex_m/elementary.inl.h"

namespace mote::cortex_m {

template <class Activate>
static inline void gate_by(const GateArgs& args, Range rows, Activate activate) {
  const uint32_t part = args.width / args.gates;
  for (uint32_t t = rows.begin; t < rows.end; ++t) {
    const float* gate = args.gate[t];
    const float* up = args.up[t];
    float* out = args.out[t];
    for (const float* end = gate + args.gates; gate != end; ++gate) {
      const float y = activate(*gate);
      for (const float* of_gate = up + part; up != of_gate;) *out++ = y * *up++;
    }
  }
}

static inline void gate_by_floats(const GateArgs& args, Range rows) {
  if (args.activation == Activation::silu) {
    return gate_by(args, rows, [](float x) { return times_sigmoid(x, x); });
  }
  gate_by(args, rows, [&](float x) { return activate(args.activation, x); });
}

}  // namespace mote::cortex_m
