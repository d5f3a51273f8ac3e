// SPDX-License-Identifier: Apache-2.0
//
// Guesses of the next tokens of sequence 0: those that were offered, or what followed the last tokens before.
#pragma once

#include "runtime/exec/session.h"

namespace mote {

/// Starts the run of the token `pending`, which comes behind the sequence's tokens, and of guesses of those
/// that follow it, at most `most`. Its guesses are those of the session's generation.
void begin_guessed(mote_session* session, mote_speculation* guesses, int32_t pending, uint32_t most);

/// Compares the token that was picked with the one that was guessed.
void compare_guess(const mote_session& session, mote_speculation* guesses, int32_t id);

/// Takes the row that the last run computed for a guess, if the token that was picked is the guess: it is the
/// sequence's next.
bool take_guess(mote_session* session, int32_t id);

}  // namespace mote
