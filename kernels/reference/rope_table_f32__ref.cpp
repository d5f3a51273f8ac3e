// SPDX-License-Identifier: Apache-2.0
//
// out[t] = scale * (cos(p f[0]), cos(p f[1]), ..., then sin(p f[0]), sin(p f[1]), ...), p = positions[t],
// or that and the shift of each frequency.
#include <math.h>

#include "kernels/ops.h"

namespace mote::ref {

void rope_table_f32(const RopeTableArgs& args, Range rows, void*) {
  const uint32_t half = args.rotary_width / 2;
  for (uint32_t t = rows.begin; t < rows.end; ++t) {
    float scale = args.scale;
    if (args.growth != 0.0f) {
      const uint32_t steps = static_cast<uint32_t>(args.positions[t]) / args.growth_every;
      scale *= 1.0f + args.growth * logf(1.0f + static_cast<float>(steps));
    }
    for (uint32_t i = 0; i < half; ++i) {
      const float shift = args.shifts.data == nullptr ? 0.0f : args.shifts[t][i];
      const float angle = (static_cast<float>(args.positions[t]) + shift) * args.frequencies[i];
      args.out[t][i] = scale * cosf(angle);
      args.out[t][half + i] = scale * sinf(angle);
    }
  }
}

}  // namespace mote::ref
