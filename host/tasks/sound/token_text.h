// SPDX-License-Identifier: Apache-2.0
//
// Models of NeMo's features that label frames with tokens: of a vocabulary by CTC, or by a transducer.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "host/tasks/hooks.h"
#include "host/tasks/session.h"
#include "host/tasks/sound/passage.h"
#include "host/tasks/sound/sound_input.h"

namespace mote::host {

struct SaidToken {
  int32_t id;
  uint32_t frame, frames;  // where it begins, and how many it takes; a transducer's may take none
  double probability;
};

/// Returns the share of an index in a softmax.
double probability_at(std::span<const float> logits, size_t index);

/// Returns the tokens of features [rows, bins], which have so many frames of outputs.
using HearTokens =
    std::function<Result<std::vector<SaidToken>>(std::span<const float> features, uint32_t frames)>;

/// Returns the rows of the model's input that a stretch can have.
uint32_t token_rows(const Model& model);

/// Transcribes a sound in stretches; `found` gets the text of each, and its words where `words` asks for
/// them.
Status transcribe_tokens(const Model& model, SoundInput& sound, const HearTokens& hear, bool words,
                         const Hooks& hooks, const OnPassage& found);

/// Transcribes by CTC (Graves et al. 2006): the likeliest token of each frame, repeated ones once, without
/// blanks.
Status transcribe_ctc_tokens(const Model& model, const SessionChoices& choices, SoundInput& sound, bool words,
                             const Hooks& hooks, const OnPassage& found);

}  // namespace mote::host
