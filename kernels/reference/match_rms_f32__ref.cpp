// SPDX-License-Identifier: Apache-2.0
//
// out = in * root(mean(target^2)) / root(max(mean(in^2), eps)). A model has a few of these beside all its
// layers, so no family has a faster kernel.
#include <math.h>

#include "kernels/ops.h"

namespace mote::ref {
namespace {

float mean_square(const float* v, uint32_t n) {
  float sum = 0.0f;
  for (uint32_t i = 0; i < n; ++i) sum += v[i] * v[i];
  return sum / static_cast<float>(n);
}

}  // namespace

void match_rms_f32(const MatchRmsArgs& args, Range rows, void*) {
  for (uint32_t t = rows.begin; t < rows.end; ++t) {
    const float wanted = sqrtf(mean_square(args.target[t], args.width));
    const float own = sqrtf(fmaxf(mean_square(args.in[t], args.width), args.eps));
    for (uint32_t k = 0; k < args.width; ++k) args.out[t][k] = args.in[t][k] * wanted / own;
  }
}

}  // namespace mote::ref
