// SPDX-License-Identifier: Apache-2.0
//
// x[t] += sin(p f[i]) and cos(p f[i]), p = positions[t]: the sine of i at column 2 i, its cosine behind it;
// or all sines in the first half. Few of a model's operations are of this kind, so no family has a faster
// kernel.
#include <math.h>

#include "kernels/ops.h"

namespace mote::ref {

void sines_f32(const SinesArgs& args, Range rows, void*) {
  const uint32_t half = args.width / 2;
  const uint32_t step = args.halves ? 1 : 2, to_cosine = args.halves ? half : 1;
  for (uint32_t t = rows.begin; t < rows.end; ++t) {
    float* x = args.x[t];
    for (uint32_t i = 0; i < half; ++i, x += step) {
      const float angle = static_cast<float>(args.positions[t]) * args.frequencies[i];
      x[0] += sinf(angle);
      x[to_cosine] += cosf(angle);
    }
  }
}

}  // namespace mote::ref
