// SPDX-License-Identifier: Apache-2.0
//
// Segments of models with a memory (Dai et al. 2019): the tokens of a segment see each other and so many of
// those before it. Every sequence begins with a segment of its own.
#pragma once

#include "runtime/exec/arena.h"
#include "runtime/exec/session.h"

namespace mote {

/// Nothing for models without a memory.
void take_segments(Arena& arena, mote_session* session);
/// All sequences are in their first segment.
void clear_segments(mote_session* session);
/// Where a sequence's last segment begins.
uint32_t segment_start(const mote_session& session, uint32_t sequence);
/// After a truncation to nothing.
void forget_segment(mote_session* session, uint32_t sequence);
void copy_segment(mote_session* session, uint32_t from, uint32_t to);
/// Sequence s becomes a copy of what from[s] was, for each s. No run is active.
void reorder_segments(mote_session* session, const uint32_t* from);
/// A sequence in a further segment, or the batch where there is none.
uint32_t find_further_segment(const mote_session& session);

}  // namespace mote
