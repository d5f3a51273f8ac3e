// SPDX-License-Identifier: Apache-2.0
//
// Guesses of the next tokens of sequence 0: those that were offered, or what followed the last tokens before.
#pragma once

#include "runtime/exec/session.h"

namespace mote {

/// Guesses what follows the token `pending`, which comes behind the sequence's tokens, and writes at most
/// `most` ids, MOTE_MOST_GUESSES or fewer, to `ids`. Returns how many the next run computes with it.
uint32_t guess_next(const mote_session& session, mote_speculation* guesses, int32_t pending, uint32_t most,
                    int32_t* ids);

/// Compares the token that was picked with the one that was guessed. `computed`: a row stands for it.
void compare_guess(mote_speculation* guesses, int32_t id, bool computed);

}  // namespace mote
