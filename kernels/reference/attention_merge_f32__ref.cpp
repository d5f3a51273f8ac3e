// SPDX-License-Identifier: Apache-2.0
//
// out = the partials of a row's segments folded in order.
#include "kernels/reference/attention_segments.inl.h"

namespace mote::ref {

void attention_merge_f32(const AttentionMergeArgs& args, Range units, void*) {
  const uint32_t value_dim = args.cache.value_dim;
  const uint32_t floats = attention_partial_floats(value_dim);
  for (uint32_t row = units.begin; row < units.end; ++row) {
    const PositionRange seen = seen_by(args, row);
    const uint32_t first = seen.begin / kAttentionSegment;
    for (size_t head = 0; head < args.heads; ++head) {
      float* partials = partials_of(args, row, head);
      float max, sum;
      const Softmax total = {args.out[row] + head * value_dim, &max, &sum};
      copy(total, softmax_at(partials + first * floats, value_dim), value_dim);
      for (uint32_t segment = first + 1; segment * kAttentionSegment < seen.end; ++segment) {
        fold(total, softmax_at(partials + segment * floats, value_dim), value_dim);
      }
      divide(total, value_dim);
    }
  }
}

}  // namespace mote::ref
