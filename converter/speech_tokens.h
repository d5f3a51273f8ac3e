// SPDX-License-Identifier: Apache-2.0
//
// What a decoder of speech writes besides text: Whisper's tokens of languages, tasks and times.
#pragma once

#include "converter/graph.h"
#include "converter/source.h"
#include "converter/tokenizers/tokenizer_spec.h"

namespace mote::convert {

/// By generation_config.json and the tokenizer's added tokens, `tokenizer` null where there is none. Throws
/// Error for ids that the vocabulary lacks.
SpeechSpec read_speech_tokens(const Source& source, const TokenizerSpec* tokenizer, uint32_t vocab);

}  // namespace mote::convert
