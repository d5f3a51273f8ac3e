// SPDX-License-Identifier: Apache-2.0
//
// The ids of each sequence's tokens, for the repetition penalty: the same ids are seen whether they were just
// computed, reused or restored. A table [batch, context], whose rows sequences exchange when they are
// reordered.
#pragma once

#include "runtime/exec/arena.h"
#include "runtime/exec/session.h"

namespace mote {

inline constexpr int32_t kNoId = -1;  // of a token that was given as floats

void take_history(Arena& arena, mote_session* session);
/// Sequence s has row s.
void clear_history(mote_session* session);

/// The ids of a sequence, [context], of which its length are set.
inline int32_t* history_of(const mote_session& session, uint32_t sequence) {
  return session.history + uint64_t{session.history_rows[sequence]} * session.options.context;
}

/// Sequence `to` becomes a copy of `from`.
void copy_history(mote_session* session, uint32_t from, uint32_t to);

/// Sequence s becomes a copy of what from[s] was, for each s. No run is active, and the lengths are still the
/// old ones.
void reorder_history(mote_session* session, const uint32_t* from);

/// Shows the sampler the last tokens that the sequence holds, as many as the penalty may look back.
void see_history(mote_session* session, uint32_t sequence);

}  // namespace mote
