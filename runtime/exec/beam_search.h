// SPDX-License-Identifier: Apache-2.0
//
// A beam search in progress: its hypotheses, and how a step's continuations are chosen.
#pragma once

#include "mote/beams.h"

namespace mote {

inline constexpr float kBeamOut = -1e9f;  // added to scores that may not be chosen

/// A beam with a further token.
struct BeamContinuation {
  float score;  // sum of log-probabilities
  uint32_t beam;
  int32_t id;
  bool ends;
};

struct BeamHypothesis {
  float score;
  bool ended;
  uint32_t count;
  int32_t* ids;  // [max_tokens]
};

}  // namespace mote

struct mote_beam_run {
  mote_session* session;
  mote_beam_options options;
  uint32_t kept;       // continuations of a step
  uint32_t found;      // of them in this step
  uint32_t next_beam;  // whose continuations come next; of all beams where their tokens are computed
  uint32_t produced;
  uint32_t begun_at;  // tokens of sequence 0 before the search
  bool may_improve;
  bool done;
  mote::BeamContinuation* best;       // [kept], descending
  float* sums;                        // [beams]
  int32_t* ids;                       // [beams, max_tokens]
  int32_t* next_ids;                  // the same, of the next step
  mote::BeamHypothesis* hypotheses;   // [beams], descending
  uint32_t* from;                     // [batch]
  int32_t* tokens;                    // [batch]
  mote::BeamContinuation* survivors;  // [beams]
};

namespace mote {

/// Offers the continuations of a beam, whose logits the session has; those of beam 0 begin a step.
void offer_continuations(mote_beam_run& run, uint32_t beam);

/// Ends a step: makes hypotheses of the continuations that end and beams of the best others. False where the
/// search is done.
bool choose_beams(mote_beam_run& run);

}  // namespace mote
