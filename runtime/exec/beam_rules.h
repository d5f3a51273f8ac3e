// SPDX-License-Identifier: Apache-2.0
//
// The rules of a beam by its tokens so far: ids that it may not go on with, and scores that it loses by
// repeating itself.
#pragma once

#include "mote/beams.h"

namespace mote {

/// The tokens of a beam, with those before the search.
struct BeamTokens {
  const int32_t* ids;  // [count]
  uint32_t count;
};

/// Says whether `id` would end n tokens that the beam has already.
bool repeats_ngram(const BeamTokens& tokens, uint32_t n, int32_t id);

/// A score, if `id` is among the tokens times the penalty, or over it where the score is positive.
float penalize_repetition(const BeamTokens& tokens, float penalty, int32_t id, float score);

/// Says whether options have a penalty; 0 and 1 are none.
inline bool has_penalty(const mote_beam_options& options) {
  return options.repetition_penalty != 0 && options.repetition_penalty != 1.0f;
}

}  // namespace mote
