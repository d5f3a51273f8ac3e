// SPDX-License-Identifier: Apache-2.0
#include "host/tasks/sound/spoken_lines.h"

#include <algorithm>
#include <utility>

#include "host/tasks/sound/phonemes.h"
#include "host/tasks/text.h"
#include "mote/voice.h"

namespace mote::host {

Result<SpokenLines> SpokenLines::make(const Model& model, const SessionChoices& choices, std::string text,
                                      bool is_phonemes) {
  MOTE_TRY(require_tokenizer(model, Remedy::give_ids));
  const char* const voice = mote_model_phonemes(model.get());
  if (is_phonemes && voice == nullptr) return failed("{} says texts, not phonemes", model.name());
  mote_session_options small = session_options(model, choices);
  small.context = small.chunk = small.logit_rows = 1;
  MOTE_TAKE(Session session, Session::begin(model, small));
  return SpokenLines(model, std::move(session), std::move(text), is_phonemes ? nullptr : voice);
}

Status SpokenLines::add(std::string_view line) {
  std::vector<std::string> sentences = {std::string(line)};
  if (voice_ != nullptr) {
    MOTE_TAKE(sentences, phonemes_of(voice_, line));
  } else if (line.find_first_not_of(" \t\r") == std::string_view::npos) {
    return {};
  }
  for (const std::string& sentence : sentences) {
    MOTE_TAKE(std::vector<int32_t> ids, tokenize(*model_, *session_, sentence, MOTE_ADD_SPECIAL));
    if (!ids.empty()) ids_.push_back(std::move(ids));
  }
  return {};
}

Result<std::optional<std::vector<int32_t>>> SpokenLines::next() {
  while (ids_.empty() && at_ < text_.size()) {
    const size_t end = std::min(text_.find('\n', at_), text_.size());
    MOTE_TRY(add(std::string_view(text_).substr(at_, end - at_)));
    at_ = end + 1;
  }
  if (ids_.empty()) return std::optional<std::vector<int32_t>>();
  std::optional<std::vector<int32_t>> ids = std::move(ids_.front());
  ids_.pop_front();
  return ids;
}

}  // namespace mote::host
