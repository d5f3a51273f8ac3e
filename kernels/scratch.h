// SPDX-License-Identifier: Apache-2.0
//
// Bytes of scratch that a kernel call needs, the largest over the families of an architecture: the
// converter's printed RAM and the session's arena come from the same functions.
#pragma once

#include "kernels/ops.h"

namespace mote {

/// Scores [R * H/G, tile], running maximum and sum, for one work unit of attention, f32.
constexpr uint64_t attention_scratch_bytes(uint64_t heads_per_kv_head) {
  return align_up(kAttentionRowBlock * heads_per_kv_head * (kAttentionTile + 2) * 4, kAlignment);
}

/// Two panels of int8 unpacked from 4 bits.
constexpr uint64_t linear_scratch_bytes(uint64_t inputs) {
  return 2 * kPanelRows * align_up(inputs, kSupercellColumns);
}

}  // namespace mote
