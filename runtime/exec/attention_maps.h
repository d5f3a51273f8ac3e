// SPDX-License-Identifier: Apache-2.0
//
// Attention maps on request: what share of its output a row takes from each position, by the reference
// arithmetic over the keys of the session.
#pragma once

#include "mote/attention.h"

namespace mote {

/// Who asked for them. Steps run one by one while somebody does.
struct AttentionMaps {
  /// Shows the maps of a step that has just run, in lanes of so many rows unless that is 0; null: nobody
  /// asked.
  void (*show)(const mote_session& session, uint32_t step, uint32_t lane_rows);
  mote_attention_fn take;
  void* user;
  float* room;                     // [mote_attention_room], of heads [mote_watched_heads_room]
  const mote_watched_head* heads;  // those that are watched; else all are
  uint32_t head_count;
};

}  // namespace mote
