// SPDX-License-Identifier: Apache-2.0
//
// Models that label frames of a waveform, as CTC says (Graves et al. 2006).
#pragma once

#include <string>
#include <vector>

#include "host/media/sound_file.h"
#include "tools/mote/session.h"
#include "tools/mote/speech/passage.h"

namespace mote::cli {

/// The words of a sound, with the times of their labels. Throws convert::Error for a model that has no such
/// head.
std::vector<Passage> transcribe_ctc(const ModelFile& file, const mote_session_options& options,
                                    SoundSource& source);

/// Without the spaces that transformers' clean_up_tokenization takes away.
std::string cleaned_up(std::string text);

}  // namespace mote::cli
