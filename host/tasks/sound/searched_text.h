// SPDX-License-Identifier: Apache-2.0
//
// Decoders over filter banks that search for a text as their authors do (Speech2Text).
#pragma once

#include <string>

#include "host/tasks/hooks.h"
#include "host/tasks/session.h"
#include "host/tasks/sound/passage.h"
#include "host/tasks/sound/sound_input.h"

namespace mote::host {

/// Transcribes a sound, one that is longer than the model's context in stretches that end where it is quiet;
/// `found` gets the text of each. `language`: of the text, for models that have several; "": as the file
/// says. Returns false where there was nothing to hear. Fails for a model that takes other features, has no
/// tokenizer or no such language.
Result<bool> transcribe_searched(const Model& model, const SessionChoices& choices, SoundInput& sound,
                                 const std::string& language, const Hooks& hooks, const OnPassage& found);

}  // namespace mote::host
