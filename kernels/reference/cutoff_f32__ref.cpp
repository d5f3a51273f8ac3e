// SPDX-License-Identifier: Apache-2.0
//
// out = max(in - (mean + deviations * deviation), 0). The deviation takes a second pass over in - mean, which
// avoids cancellation.
#include <math.h>

#include "kernels/ops.h"

namespace mote::ref {

void cutoff_f32(const CutoffArgs& args, Range rows, void*) {
  const float n = static_cast<float>(args.width);
  for (uint32_t t = rows.begin; t < rows.end; ++t) {
    const float* in = args.in[t];
    float sum = 0.0f, squares = 0.0f;
    for (uint32_t k = 0; k < args.width; ++k) sum += in[k];
    const float mean = sum / n;
    for (uint32_t k = 0; k < args.width; ++k) squares += (in[k] - mean) * (in[k] - mean);
    const float cutoff = mean + args.deviations * sqrtf(squares / n);
    for (uint32_t k = 0; k < args.width; ++k) {
      const float above = in[k] - cutoff;
      args.out[t][k] = above < 0.0f ? 0.0f : above;
    }
  }
}

}  // namespace mote::ref
