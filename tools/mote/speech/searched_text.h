// SPDX-License-Identifier: Apache-2.0
//
// Decoders over filter banks that search for a text as their authors do (Speech2Text).
#pragma once

#include <functional>
#include <string>

#include "host/media/sound_file.h"
#include "tools/mote/session.h"
#include "tools/mote/speech/passage.h"

namespace mote::cli {

/// Transcribes a sound, one that is longer than the model's context in stretches that end where it is quiet;
/// `found` gets the text of each. `language`: of the text, for models that have several; "": as the file
/// says. False: there was nothing to hear. Throws convert::Error for a model that takes other features, has
/// no tokenizer or no such language.
bool transcribe_searched(const ModelFile& file, const mote_session_options& options, SoundSource& source,
                         const std::string& language, const std::function<void(const Passage&)>& found);

}  // namespace mote::cli
