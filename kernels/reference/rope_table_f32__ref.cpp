// SPDX-License-Identifier: Apache-2.0
//
// out[t] = scale * (cos(p f[0]), cos(p f[1]), ..., then sin(p f[0]), sin(p f[1]), ...), p = positions[t].
#include <math.h>

#include "kernels/ops.h"

namespace mote::ref {

void rope_table_f32(const RopeTableArgs& args, Range rows, void*) {
  const uint32_t half = args.rotary_width / 2;
  for (uint32_t t = rows.begin; t < rows.end; ++t) {
    for (uint32_t i = 0; i < half; ++i) {
      const float angle = static_cast<float>(args.positions[t]) * args.frequencies[i];
      args.out[t][i] = args.scale * cosf(angle);
      args.out[t][half + i] = args.scale * sinf(angle);
    }
  }
}

}  // namespace mote::ref
