// SPDX-License-Identifier: Apache-2.0
//
// Chooses the next token of one row of logits. Logits change in this order: rules, biases, the repetition
// penalty, the frequency and presence penalties, the mask; then temperature, top-k, top-p and min-p choose.
#pragma once

#include "mote/sampler.h"

namespace mote {

using Candidate = mote_candidate;
struct RuledTokens;

/// The tokens that the repetition penalty looks at: `ids` is a ring of `size`, of which `count` were written,
/// the newest at (count - 1) % size. Negative ids are none.
struct RecentTokens {
  const int32_t* ids;
  uint32_t count, size;
};

/// Options that a session's own sampling does not have.
struct ChoiceExtras {
  float frequency_penalty, presence_penalty;
  const int32_t* generated;  // [generated_count]
  uint32_t generated_count;
  const mote_logit_bias* biases;
  uint32_t bias_count;
  const uint32_t* mask;  // null: all
};

struct Choice {
  const mote_sampling* sampling;
  RecentTokens recent;
  const RuledTokens* ruled;  // null: no rules
  uint64_t random;           // bits, of which a choice that is not greedy takes 53
  uint32_t vocab;
  Candidate* candidates;  // [vocab] scratch
};

/// Null if the settings are valid, else what is wrong with them.
const char* sampling_problem(const mote_sampling& sampling);

/// Returns an id of 0..vocab-1. NaN logits are never chosen unless all allowed ones are: then the first
/// allowed id. -1: the mask allows none. `extras`: null for none.
int32_t choose(const Choice& choice, const float* logits, const ChoiceExtras* extras);

}  // namespace mote
