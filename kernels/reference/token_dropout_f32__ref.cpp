// SPDX-License-Identifier: Apache-2.0
//
// x[t] = x[t] * kept / (1 - d / n), x[t] being 0 where the token is one of the d dropped of a sequence of n.
#include "kernels/ops.h"

namespace mote::ref {

void token_dropout_f32(const TokenDropoutArgs& args, Range rows, void*) {
  for (uint32_t t = rows.begin; t < rows.end; ++t) {
    const int32_t* ids = args.ids + t - args.positions[t];
    const int32_t count = args.last_seen[t] + 1;
    int32_t dropped = 0;
    for (int32_t i = 0; i < count; ++i) dropped += ids[i] == args.dropped ? 1 : 0;
    const float left = 1.0f - static_cast<float>(dropped) / static_cast<float>(count);
    const bool is_dropped = args.ids[t] == args.dropped;
    float* x = args.x[t];
    for (uint32_t i = 0; i < args.width; ++i) x[i] = (is_dropped ? 0.0f : x[i]) * args.kept / left;
  }
}

}  // namespace mote::ref
