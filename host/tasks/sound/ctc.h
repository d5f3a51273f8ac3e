// SPDX-License-Identifier: Apache-2.0
//
// Models that label frames of a waveform, as CTC says (Graves et al. 2006).
#pragma once

#include <string>

#include "host/tasks/hooks.h"
#include "host/tasks/session.h"
#include "host/tasks/sound/passage.h"
#include "host/tasks/sound/sound_input.h"

namespace mote::host {

/// Finds the words of a sound, with the times of their labels; `found` gets them once all is heard. Fails for
/// a model that has no such head.
Status transcribe_ctc(const Model& model, const SessionChoices& choices, SoundInput& sound,
                      const Hooks& hooks, const OnPassage& found);

/// Returns the text without the spaces that transformers' clean_up_tokenization takes away.
std::string cleaned_up(std::string text);

}  // namespace mote::host
