// SPDX-License-Identifier: Apache-2.0
//
// Rotates pairs (a, b) of the first R columns of each head: a' = a cos - b sin, b' = b cos + a sin. Pair i is
// (i, i + R/2) for half and (2i, 2i + 1) for interleaved.
#include "kernels/ops.h"

namespace mote::ref {

void rope_f32(const RopeArgs& args, Range rows, void*) {
  const uint32_t half = args.rotary_width / 2;
  for (uint32_t t = rows.begin; t < rows.end; ++t) {
    const float* cosines = args.table[t];
    const float* sines = cosines + half;
    for (uint32_t head = 0; head < args.heads; ++head) {
      float* x = args.x[t] + head * args.head_dim;
      for (uint32_t i = 0; i < half; ++i) {
        float* a = args.kind == RopeKind::half ? &x[i] : &x[2 * i];
        float* b = args.kind == RopeKind::half ? &x[i + half] : &x[2 * i + 1];
        const float rotated_a = *a * cosines[i] - *b * sines[i];
        const float rotated_b = *b * cosines[i] + *a * sines[i];
        *a = rotated_a;
        *b = rotated_b;
      }
    }
  }
}

}  // namespace mote::ref
