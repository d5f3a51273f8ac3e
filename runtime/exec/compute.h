// SPDX-License-Identifier: Apache-2.0
//
// What prefill, decode and generation share.
#pragma once

#include "runtime/exec/session.h"

namespace mote {

/// MOTE_INVALID_ARGUMENT if an id is not of the vocabulary.
mote_status check_ids(const mote_session* session, const int32_t* ids, uint32_t n, mote_error* error);

/// MOTE_CONTEXT_FULL if n more tokens do not fit the sequence.
mote_status check_room(const mote_session* session, uint32_t sequence, uint32_t n, mote_error* error);

/// Starts a run of the first tokens of ids, at most a chunk; returns how many. `logits` is meant of all n
/// ids.
uint32_t begin_chunk(mote_session* session, uint32_t sequence, const int32_t* ids, uint32_t n,
                     mote_logits logits);

}  // namespace mote
