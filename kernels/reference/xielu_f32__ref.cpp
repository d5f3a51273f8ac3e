// SPDX-License-Identifier: Apache-2.0
//
// out = positive x^2 + beta x above 0, else (expm1(min(x, eps)) - x) negative + beta x.
#include <math.h>

#include "kernels/ops.h"

namespace mote::ref {

void xielu_f32(const XieluArgs& args, Range rows, void*) {
  for (uint32_t t = rows.begin; t < rows.end; ++t) {
    for (uint32_t k = 0; k < args.width; ++k) {
      const float x = args.in[t][k];
      const float bent =
          x > 0.0f ? args.positive * x * x : (expm1f(x < args.eps ? x : args.eps) - x) * args.negative;
      args.out[t][k] = bent + args.beta * x;
    }
  }
}

}  // namespace mote::ref
