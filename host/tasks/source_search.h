// SPDX-License-Identifier: Apache-2.0
//
// Texts generated over a source: what translations, summaries, pictures of text and some speech share.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "host/tasks/hooks.h"
#include "host/tasks/session.h"
#include "host/tasks/status.h"
#include "mote/beams.h"

namespace mote::host {

struct SourceHypothesis {
  std::vector<int32_t> ids;  // a stop id included
  float score;               // sum of log-probabilities over a power of the length
};

/// Returns `options`, as mote_model_beam_options gives them, for a context of `context` tokens, 0: the
/// model's.
mote_beam_options bounded_search(const Model& model, uint32_t context, mote_beam_options options);

/// Returns the best hypotheses, the best first, of what follows the model's start token over sequence 0's
/// source. `memory` is kept from one search to the next; `speculation` gives a greedy search guesses, null:
/// it has none.
Result<std::vector<SourceHypothesis>> search_encoded(const Model& model, Session& session,
                                                     const mote_beam_options& options,
                                                     std::vector<uint64_t>& memory, const Hooks& hooks,
                                                     Speculation* speculation = nullptr);

/// Encodes sources one by one and searches for what follows the model's start token.
class SourceSearch {
 public:
  /// `options` are as mote_model_beam_options gives them, changed or not. Fails for a model that does not
  /// generate over a source. The model must outlive the object.
  static Result<SourceSearch> make(const Model& model, const SessionChoices& choices,
                                   const mote_beam_options& options,
                                   const SpeculationOptions& speculation = {Speculate::off});

  /// Returns the ids of a text with the model's own tokens around it.
  Result<std::vector<int32_t>> tokenize(const std::string& text) const;
  /// Returns the best hypotheses, the best first. Fails for a source that is too long.
  Result<std::vector<SourceHypothesis>> search(std::span<const int32_t> source, const Hooks& hooks);
  /// Returns the text of ids without special tokens.
  Result<std::string> text_of(std::span<const int32_t> ids) const;

  size_t memory_bytes() const { return session_.arena_bytes(); }
  /// Returns what became of the guesses of the last search.
  const GuessReport& guesses() const { return guesses_; }

 private:
  explicit SourceSearch(const Model& model) : model_(&model) {}
  Status make_room(size_t tokens);
  Result<Speculation*> begin_guesses(std::span<const int32_t> source);

  const Model* model_;
  mote_session_options session_options_{};
  mote_beam_options options_{};
  uint32_t most_source_ = 0;
  Session session_;
  std::vector<uint64_t> memory_;  // of a search
  SpeculationOptions speculation_;
  GuessReport guesses_;
};

/// Returns the token of a language of the file's by its code, by the token's text, or by the code's first
/// part where it is one language's alone. Fails with those that there are.
Result<int32_t> language_token(const Model& model, const std::string& language);
/// Says that the token is one of these.
bool is_language_token(const Model& model, int32_t id);

}  // namespace mote::host
