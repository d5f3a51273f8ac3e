// SPDX-License-Identifier: Apache-2.0
//
// out = activation(in).
#include "kernels/reference/activation.inl.h"

namespace mote::ref {

void activate_f32(const ActivateArgs& args, Range rows, void*) {
  for (uint32_t t = rows.begin; t < rows.end; ++t) {
    for (uint32_t i = 0; i < args.width; ++i) args.out[t][i] = activate(args.activation, args.in[t][i]);
  }
}

}  // namespace mote::ref
