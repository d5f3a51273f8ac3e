// SPDX-License-Identifier: Apache-2.0
//
// Rows to compute: what prefill, decode, generation and encoding are made of.
#pragma once

#include "runtime/exec/session.h"

namespace mote {

/// Rows that come one at a time, so that a prompt of ids needs no list of rows.
struct RowSource {
  const mote_row* rows;  // or null:
  const int32_t* ids;    // of `sequence`, all of a prompt that is left
  uint32_t sequence;
  uint32_t n;
  mote_logits logits;  // of the n ids
  uint32_t program;
  const float* values;  // of a program that takes floats: those of row i begin at values[i * stride]
  size_t stride;

  mote_row operator[](uint32_t i) const {
    if (rows != nullptr) return rows[i];
    const bool last = i + 1 == n;
    return {sequence, ids[i], 0, logits == MOTE_LOGITS_ALL || (logits == MOTE_LOGITS_LAST && last)};
  }
};

/// MOTE_INVALID_ARGUMENT if an id is not of the vocabulary.
mote_status check_ids(const mote_session* session, const int32_t* ids, uint32_t n, mote_error* error);

/// MOTE_CONTEXT_FULL if asked[s] more tokens of each sequence s do not fit, asked being the session's;
/// MOTE_WRONG_STATE if one lacks a source that the program attends to.
mote_status check_room(const mote_session* session, mote_error* error, uint32_t program = 0);

/// Checks the room for n more tokens of one sequence, as the function above does for all.
mote_status check_room(const mote_session* session, uint32_t sequence, uint32_t n, mote_error* error);

/// Starts a run of the first `count` rows, which were checked.
void begin_rows(mote_session* session, const RowSource& rows, uint32_t count);

/// Starts a run of the first tokens of ids, at most a chunk; returns how many. `logits` is meant of all n
/// ids.
uint32_t begin_chunk(mote_session* session, uint32_t sequence, const int32_t* ids, uint32_t n,
                     mote_logits logits);

/// Starts the run of mote_decode.
mote_status begin_decode(mote_session* session, const int32_t* ids, mote_error* error);

}  // namespace mote
