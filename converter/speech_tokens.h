// SPDX-License-Identifier: Apache-2.0
//
// Reads the tokens that a decoder of speech writes besides text: Whisper's tokens of languages, tasks and
// times.
#pragma once

#include <string>
#include <vector>

#include "converter/graph.h"
#include "converter/source.h"
#include "converter/tokenizers/tokenizer_spec.h"

namespace mote::convert {

/// The settings of a decoder of speech and the languages that it tells apart.
struct SpeechSettings : SpeechSpec {
  std::vector<LanguageSpec> languages;
};

/// By generation_config.json and the tokenizer's added tokens, `tokenizer` null where there is none. Throws
/// Error for ids that the vocabulary lacks.
SpeechSettings read_speech_tokens(const Source& source, const TokenizerSpec* tokenizer, uint32_t vocab);

/// Sets the graph's, with notes of a language and a task that its texts have by default.
void take_speech_tokens(Source& source, const TokenizerSpec* tokenizer, Graph& graph);

/// Keys of generation_config.json that change what the original writes down and that Whisper's own search has
/// not, with their values.
std::vector<std::string> unread_speech_keys(const Source& source);

}  // namespace mote::convert
