// SPDX-License-Identifier: Apache-2.0
//
// Decoders over a waveform, or frames of it, or a picture, that write text alone (Moonshine, TrOCR).
#pragma once

#include <functional>

#include "host/media/sound_file.h"
#include "tools/mote/session.h"
#include "tools/mote/speech/passage.h"

namespace mote::cli {

/// Throws convert::Error for a model that cannot write down a source as text.
void require_source_text(const ModelFile& file);

/// The text, of at most so many tokens, that sequence 0's source is written down as.
std::string decode_source(const ModelFile& file, Session& session, uint32_t most);

/// The text in a PNG or JPEG, of a model that takes pictures.
std::string transcribe_picture(const ModelFile& file, const mote_session_options& options,
                               const std::string& path);

/// Transcribes a sound in stretches that end where it is quiet; `found` gets the text of each. Throws
/// convert::Error for a model that takes other features, or has no tokenizer.
void transcribe_source(const ModelFile& file, const mote_session_options& options, SoundSource& source,
                       const std::function<void(const Passage&)>& found);

}  // namespace mote::cli
