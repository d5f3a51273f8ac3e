// SPDX-License-Identifier: Apache-2.0
//
// Attention maps on request: what share of its output a row takes from each position, by the reference
// arithmetic over the keys of the session.
#pragma once

#include "mote/attention.h"

namespace mote {

/// Who asked for them.
struct AttentionMaps {
  mote_attention_fn take;  // null: nobody
  void* user;
  float* room;  // [mote_attention_room]
};

/// Shows the maps of step `step` of the session, which has just run.
void show_attention_map(const mote_session& session, uint32_t step);

}  // namespace mote
