// SPDX-License-Identifier: Apache-2.0
//
// The sampling of a session: its settings, its random numbers and the tokens that it saw last.
#pragma once

#include "runtime/exec/choose.h"

namespace mote {

struct Sampler {
  mote_sampling sampling;
  uint64_t random_state;
  uint32_t vocab;
  uint32_t recent_count;  // tokens seen, of which the last MOTE_REPETITION_WINDOW lie in `recent` as a ring
  int32_t* recent;        // [MOTE_REPETITION_WINDOW]
  Candidate* candidates;  // [vocab] scratch
};

/// Takes the settings, seeds the random sequence and forgets the recent tokens.
void sampler_start(Sampler* sampler, const mote_sampling& sampling);

/// Tells the sampler of a token of the sequence, for the repetition penalty.
void sampler_see(Sampler* sampler, int32_t id);

/// Returns an id of 0..vocab-1; NaN logits are never picked unless all are, which gives 0. `ruled`: null for
/// no rules. `mask`: null for none, else one that allows an id.
int32_t sampler_pick(Sampler* sampler, const float* logits, const RuledTokens* ruled = nullptr,
                     const uint32_t* mask = nullptr);

}  // namespace mote
