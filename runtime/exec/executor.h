// SPDX-License-Identifier: Apache-2.0
//
// Walks a session's steps over the rows of a run. Knows no architecture.
#pragma once

#include "runtime/exec/session.h"

namespace mote {

/// Starts a run of a program with no rows; any run or generation in progress and any logits are dropped.
void begin_run(mote_session* session, uint32_t program = 0);

/// Adds the next token of a sequence; `wants_logits` selects its row, as the next public row of logits.
/// `values`: its floats, valid until the run ends, or null.
void add_row(mote_session* session, uint32_t sequence, int32_t id, bool wants_logits,
             const float* values = nullptr);

/// The next public row of logits is none.
void add_no_row(mote_session* session);

/// The floats of the token of a whole sequence that is added next; valid until the run ends.
void set_input(mote_session* session, const float* values);

/// Begins the next sequence of a program of whole ones; then its `length` tokens are added. Without sources
/// the sequences are 0, 1, ...
void begin_sequence(mote_session* session, uint32_t sequence, uint32_t length, uint32_t columns = 0);
void add_token(mote_session* session, int32_t id, int32_t token_type);

/// Once all sequences are added: the first of them, or the next (passes.h), are what continue_run computes.
void begin_pass(mote_session* session);

/// Runs at most max_ops steps (0: all). True when the run is complete: its tokens then belong to their
/// sequences, but for those of encoders, and its outputs can be read.
bool continue_run(mote_session* session, uint32_t max_ops);

/// Drops the run in progress, the generation and the logits.
void end_run(mote_session* session);

}  // namespace mote
