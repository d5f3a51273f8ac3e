// SPDX-License-Identifier: Apache-2.0
//
// Attention maps on request: what share of its output a row takes from each position, by the reference
// arithmetic over the keys of the session.
#pragma once

#include "mote/mote.h"

namespace mote {

/// A row of a map: the probabilities of positions 0 to keys - 1, of the row's token and one head of operation
/// `op` of a program. With sinks they add up to less than 1.
struct AttentionRow {
  uint32_t program, op, row, head, heads;
  const float* probabilities;
  uint32_t keys;
};
struct AttentionMaps {
  void (*take)(void* user, const AttentionRow& row);  // null: nobody asks
  void* user;
  float* room;  // [the most positions of a sequence or a source]
};

/// Asks for the maps of all runs from now on, row by row. The session traces and keeps keys in f32.
mote_status ask_for_attention_maps(mote_session* session, const AttentionMaps& maps, mote_error* error);

/// After step `step` of the session, where maps were asked for.
void show_attention_map(const mote_session& session, uint32_t step);

}  // namespace mote
