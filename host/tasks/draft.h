// SPDX-License-Identifier: Apache-2.0
//
// Guesses of a model's tokens by a second, smaller one of the same vocabulary, which reads what the first one
// reads and writes (Leviathan et al. 2023).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "host/tasks/hooks.h"
#include "host/tasks/session.h"
#include "host/tasks/status.h"

namespace mote::host {

/// Fails unless both models have the same tokens, with the names of both.
Status require_same_vocabulary(const Model& model, const Model& draft);

/// Picks a guess by its logits behind the guesses so far.
using DraftPick = std::function<int32_t(std::span<const float> logits, std::span<const int32_t> found)>;

/// Fails unless `draft` can guess tokens of `model`: for the same task, by the same vocabulary and features.
Status require_draft(const Model& model, const Model& draft);

class Draft {
 public:
  /// Makes a session of `draft` for sequences of at most `context` tokens. Fails where the models'
  /// vocabularies differ, or `draft` continues no text or cannot take tokens back. `draft` must outlive the
  /// object.
  static Result<Draft> begin(const Model& model, const Model& draft, SessionChoices choices,
                             uint32_t context);

  /// Returns what the draft model finds likeliest behind the tokens of sequence 0 of `session` and the token
  /// `last` behind them, at most `most` ids, valid until the next call. No ids: the draft cannot read these
  /// tokens, or the hooks' stop ended it.
  Result<std::span<const int32_t>> next(const Session& session, int32_t last, uint32_t most,
                                        const Hooks& hooks, const DraftPick& pick = {});
  /// Takes the features of a sound, which the tokens of the next calls are about: of a model with a source.
  void hear(std::span<const float> features);
  /// Returns the milliseconds that a guess takes, 0 before the first.
  double guess_ms() const { return token_ms_ + source_ms_ / kGuessesOfSource; }
  size_t arena_bytes() const { return session_.arena_bytes(); }

 private:
  static constexpr double kGuessesOfSource = 20;  // that share its time

  explicit Draft(const Model& draft) : model_(&draft) {}
  Status encode_heard(const Hooks& hooks);
  std::span<const int32_t> readable(const Session& session, int32_t last, uint32_t most);
  /// Returns how many tokens it computed.
  Result<size_t> follow(std::span<const int32_t> text, const Hooks& hooks);
  int32_t pick(const DraftPick& pick) const;

  const Model* model_;
  Session session_;
  uint32_t context_ = 0;
  std::vector<int32_t> text_;  // of the sequence, the last token included
  std::vector<int32_t> held_;  // tokens that the draft's session has
  std::vector<int32_t> found_;
  size_t skipped_ = 0;            // tokens before those that the draft reads
  std::span<const float> heard_;  // a source that is not encoded yet
  double token_ms_ = 0, source_ms_ = 0;
};

}  // namespace mote::host
