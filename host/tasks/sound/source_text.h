// SPDX-License-Identifier: Apache-2.0
//
// Decoders over a waveform, or frames of it, that write text alone (Moonshine).
#pragma once

#include "host/tasks/hooks.h"
#include "host/tasks/session.h"
#include "host/tasks/sound/passage.h"
#include "host/tasks/sound/sound_input.h"

namespace mote::host {

/// Fails for a model that cannot write down a source as text.
Status require_source_text(const Model& model);

/// Transcribes a sound in stretches that end where it is quiet; `found` gets the text of each. Fails for a
/// model that takes other features, or has no tokenizer.
Status transcribe_source(const Model& model, const SessionChoices& choices, SoundInput& sound,
                         const Hooks& hooks, const OnPassage& found);

}  // namespace mote::host
