// SPDX-License-Identifier: Apache-2.0
//
// Bytes of scratch that a kernel call needs, the largest over the families of an architecture: the
// converter's printed RAM and the session's arena come from the same functions.
#pragma once

#include "kernels/ops.h"

namespace mote {

/// For one work unit of attention, f32: scores [R * H/G, tile], running maximum and sum, a segment's
/// partials.
constexpr uint64_t attention_scratch_bytes(uint64_t heads_per_kv_head, uint32_t head_dim) {
  const uint64_t floats = kAttentionTile + 2 + attention_partial_floats(head_dim);
  return align_up(kAttentionRowBlock * heads_per_kv_head * floats * 4, kAlignment);
}

/// Two panels of int8 unpacked from 4 bits.
constexpr uint64_t linear_scratch_bytes(uint64_t inputs) {
  return 2 * kPanelRows * align_up(inputs, kSupercellColumns);
}

}  // namespace mote
