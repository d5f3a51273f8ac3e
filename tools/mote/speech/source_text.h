// SPDX-License-Identifier: Apache-2.0
//
// Decoders over a waveform, or frames of it, that write text alone (Moonshine).
#pragma once

#include <functional>

#include "tools/mote/session.h"
#include "tools/mote/sound_file.h"
#include "tools/mote/speech/passage.h"

namespace mote::cli {

/// Transcribes a sound in stretches that end where it is quiet; `found` gets the text of each. Throws
/// convert::Error for a model that takes other features, or has no tokenizer.
void transcribe_source(const ModelFile& file, const mote_session_options& options, SoundSource& source,
                       const std::function<void(const Passage&)>& found);

}  // namespace mote::cli
