// SPDX-License-Identifier: Apache-2.0
//
// Tokens of a text as words.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "host/tasks/model.h"
#include "host/tasks/status.h"

namespace mote::host {

/// Consecutive tokens that are a word, with the space before it.
struct TokenWord {
  std::string text;
  uint32_t first, count;  // tokens
};

/// Where a word begins: at each token with a space before it; also at marks of punctuation, as openai/whisper
/// has it; or at each token behind the end of a character, for languages without spaces.
enum class WordsAt : uint8_t { spaces, spaces_and_marks, characters };

/// Returns the words of a text. A word has a token at least.
Result<std::vector<TokenWord>> words_of_tokens(const Model& model, std::span<const int32_t> ids, WordsAt at);

/// Tells whether a language has no spaces between words.
bool lacks_spaces(const std::string& language);

}  // namespace mote::host
