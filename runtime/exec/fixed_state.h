// SPDX-License-Identifier: Apache-2.0
//
// States of a fixed size (kernels/recurrent_ops.h): what a sequence keeps however long it gets. Each lies
// twice in the arena. A run reads one and writes the other, and a commit swaps them, so that a run which is
// broken off leaves no trace. A sequence of no tokens has none: what lies there is not read.
#pragma once

#include "runtime/exec/arena.h"
#include "runtime/exec/session.h"

namespace mote {

/// Take places for the tables by which the session keeps track of its states, then for the states themselves.
/// While counting the session gets none.
void take_fixed_tables(Arena& arena, mote_session* session);
void take_fixed_states(Arena& arena, mote_session* session);

/// Row `row` of the run is the sequence's next.
void link_row(mote_session* session, uint32_t sequence, uint32_t row);

/// After a commit: the sequence keeps what the run has left.
inline void swap_fixed_states(mote_session* session, uint32_t sequence) {
  if (session->fixed.views != nullptr) session->fixed.current[sequence] ^= 1u;
}

/// Sequence s becomes a copy of what from[s] was, for each s.
void reorder_fixed_states(mote_session* session, const uint32_t* from);

/// Sequence `to` becomes a copy of `from`.
void copy_fixed_states(mote_session* session, uint32_t from, uint32_t to);

/// Floats of a sequence's state, without what pads a slot.
inline uint64_t fixed_floats(const FixedStateView& view) {
  return uint64_t{view.heads} * view.rows * view.cols;
}

/// Bytes of all states of a sequence in a snapshot.
uint64_t saved_fixed_bytes(const mote_session& session);

/// Calls f(data, bytes) for each state that the sequence keeps.
template <class F>
void for_each_fixed_state(const mote_session& session, uint32_t sequence, F&& f) {
  const FixedStates& fixed = session.fixed;
  for (uint32_t i = 0; fixed.views != nullptr && i < session.model->root->states()->size(); ++i) {
    const FixedStateView& view = fixed.views[i];
    if (view.slots != nullptr)
      f(view.slot(sequence, fixed.current[sequence]), fixed_floats(view) * sizeof(float));
  }
}

/// The kind of the first state that keeps no earlier tokens; null if there is none.
const char* kind_without_past(const file::Model& root);

}  // namespace mote
