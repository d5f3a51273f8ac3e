// SPDX-License-Identifier: Apache-2.0
//
// The rules of a generation (mote_token_rules), in the order in which transformers' generate changes logits:
// they forbid ids and make repeated ones less likely.
#pragma once

#include "mote/mote.h"
#include "runtime/exec/choose.h"
#include "runtime/file/file.h"

namespace mote {

/// A generation's rules and the tokens so far.
struct RuledTokens {
  const mote_token_rules* rules;
  const int32_t* ids;  // [count] of the sequence, kNoId where a token was given as floats
  uint32_t count;
  uint32_t produced;  // of them, by this generation
  const int32_t *stop_ids, *more_stop_ids;
  uint32_t stop_count, more_stop_count;
};

/// Return the options and the rules that a file has, its values as they are; null: the file has none.
mote_sampling sampling_of(const file::Generation* own);
mote_token_rules rules_of(const file::Generation* own);

/// Null if these are valid, else what is wrong with them.
const char* generation_problem(const file::Generation* own);
/// Null if the rules are valid, else what is wrong with them.
const char* rules_problem(const mote_token_rules& rules);

/// Changes the candidates, [vocab], of which number i is of id i. `logits` are what they were before.
void apply_rules(const RuledTokens& ruled, uint32_t vocab, const float* logits, Candidate* candidates);

}  // namespace mote
