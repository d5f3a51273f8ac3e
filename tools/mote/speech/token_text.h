// SPDX-License-Identifier: Apache-2.0
//
// Models of NeMo's features that label frames with tokens: of a vocabulary by CTC, or by a transducer.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "host/media/sound_file.h"
#include "tools/mote/session.h"
#include "tools/mote/speech/passage.h"

namespace mote::cli {

constexpr double kTokenStretchSeconds = 30.0;

struct SaidToken {
  int32_t id;
  uint32_t frame;
};

/// The tokens of features [rows, bins], which have so many frames of outputs.
using HearTokens = std::function<std::vector<SaidToken>(std::span<const float> features, uint32_t frames)>;

/// The rows of the model's input that a stretch can have. Throws convert::Error for a model of other features
/// or without a tokenizer.
uint32_t token_rows(const ModelFile& file);

/// Transcribes a sound in stretches; `found` gets the text of each.
void transcribe_tokens(const ModelFile& file, SoundSource& source, const HearTokens& hear,
                       const std::function<void(const Passage&)>& found);

/// By CTC (Graves et al. 2006): the likeliest token of each frame, repeated ones once, without blanks.
void transcribe_ctc_tokens(const ModelFile& file, const mote_session_options& options, SoundSource& source,
                           const std::function<void(const Passage&)>& found);

}  // namespace mote::cli
