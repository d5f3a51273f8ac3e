// SPDX-License-Identifier: Apache-2.0
//
// out = activation(gate) * up.
#include "kernels/reference/activation.inl.h"

namespace mote::ref {

void gate_f32(const GateArgs& args, Range rows, void*) {
  for (uint32_t t = rows.begin; t < rows.end; ++t) {
    const uint32_t part = args.width / args.gates;
    for (uint32_t i = 0; i < args.width; ++i) {
      args.out[t][i] = activate(args.activation, args.gate[t][i / part]) * args.up[t][i];
    }
  }
}

}  // namespace mote::ref
