// SPDX-License-Identifier: Apache-2.0
#include "host/tasks/sound/token_words.h"

#include <algorithm>
#include <string_view>

#include "host/tasks/text.h"

namespace mote::host {
namespace {

constexpr std::string_view kPunctuation = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~";

/// Joins tokens until they end a character.
Result<std::vector<TokenWord>> whole_characters(const Model& model, std::span<const int32_t> ids) {
  MOTE_TAKE(TextStream stream, TextStream::start(model, MOTE_KEEP_LEADING_SPACE));
  std::vector<TokenWord> parts;
  uint32_t first = 0;
  for (uint32_t i = 0; i < ids.size(); ++i) {
    MOTE_TAKE(std::string text, stream.next(ids[i]));
    if (text.empty()) continue;
    parts.push_back({std::move(text), first, i + 1 - first});
    first = i + 1;
  }
  MOTE_TAKE(std::string rest, stream.finish());
  const auto left = static_cast<uint32_t>(ids.size()) - first;
  if (left != 0 && (!rest.empty() || parts.empty()))
    parts.push_back({std::move(rest), first, left});
  else if (left != 0)
    parts.back().count += left;
  return parts;
}

}  // namespace

Result<std::vector<TokenWord>> words_of_tokens(const Model& model, std::span<const int32_t> ids, WordsAt at) {
  MOTE_TAKE(std::vector<TokenWord> parts, whole_characters(model, ids));
  if (at == WordsAt::characters) return parts;
  std::vector<TokenWord> words;
  for (TokenWord& part : parts) {
    const bool spaced = part.text.starts_with(' ');
    const bool marks =
        at == WordsAt::spaces_and_marks && kPunctuation.find(trimmed(part.text)) != std::string_view::npos;
    if (spaced || marks || words.empty()) {
      words.push_back(std::move(part));
    } else {
      words.back().text += part.text;
      words.back().count += part.count;
    }
  }
  return words;
}

bool lacks_spaces(const std::string& language) {
  constexpr std::string_view kLanguages[] = {"zh", "ja", "th", "lo", "my", "yue"};
  return std::find(std::begin(kLanguages), std::end(kLanguages), language) != std::end(kLanguages);
}

}  // namespace mote::host
