// SPDX-License-Identifier: Apache-2.0
//
// out = min(max(in, least), most), by comparisons that a NaN passes.
#include "kernels/ops.h"

namespace mote::ref {

void clamp_f32(const ClampArgs& args, Range rows, void*) {
  for (uint32_t t = rows.begin; t < rows.end; ++t) {
    for (uint32_t k = 0; k < args.width; ++k) {
      const float x = args.in[t][k];
      args.out[t][k] = x < args.least ? args.least : x > args.most ? args.most : x;
    }
  }
}

}  // namespace mote::ref
