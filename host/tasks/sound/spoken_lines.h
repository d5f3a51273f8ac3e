// SPDX-License-Identifier: Apache-2.0
//
// A text as the utterances that a voice says, one after the other.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/tasks/session.h"
#include "host/tasks/status.h"

namespace mote::host {

/// Cuts a text while it is said: lines, which a voice of phonemes says sentence by sentence.
class SpokenLines {
 public:
  /// Fails for a model without a tokenizer. The model has to outlive it. `is_phonemes`: the
  /// text is phonemes already.
  static Result<SpokenLines> make(const Model& model, const SessionChoices& choices, std::string text,
                                  bool is_phonemes);
  /// Has the utterances themselves.
  explicit SpokenLines(std::deque<std::vector<int32_t>> utterances) : ids_(std::move(utterances)) {}

  /// Returns the ids of the next utterance; none at the end.
  Result<std::optional<std::vector<int32_t>>> next();

 private:
  SpokenLines(const Model& model, Session session, std::string text, const char* voice)
      : model_(&model), session_(std::move(session)), text_(std::move(text)), voice_(voice) {}
  Status add(std::string_view line);

  const Model* model_ = nullptr;
  std::optional<Session> session_;
  std::string text_;
  size_t at_ = 0;
  const char* voice_ = nullptr;  // of espeak-ng; null: texts are tokens' own
  std::deque<std::vector<int32_t>> ids_;
};

}  // namespace mote::host
