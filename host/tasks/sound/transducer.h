// SPDX-License-Identifier: Apache-2.0
//
// Transducers of tokens and durations (Xu et al. 2023): a decoder that is asked about one frame after
// another.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "host/tasks/sound/token_text.h"

namespace mote::host {

/// Works over a session of at least two sequences: the first holds the tokens said before the last one, the
/// second is for asking.
class Transducer {
 public:
  /// Fails for other models. The model and the session must outlive the transducer.
  static Result<Transducer> make(const Model& model, Session& session);

  /// Returns the floats of a frame.
  uint32_t width() const { return width_; }
  /// Returns how many labels there are besides durations.
  uint32_t labels() const { return model_->info().vocab - static_cast<uint32_t>(durations_.size()); }
  /// Returns how many tokens a frame has at most.
  uint32_t tokens_of_frame() const { return tokens_of_frame_; }
  /// Returns the encoder's outputs for rows of its input, [frames, width].
  Result<std::vector<float>> encode(std::span<const float> values, const Hooks& hooks);
  /// Forgets all tokens.
  Status clear();
  /// Returns the logits of labels, then of durations, behind the tokens and `last`; valid until the next
  /// call.
  Result<std::span<const float>> ask(int32_t last, const float* frame, const Hooks& hooks);
  /// Keeps the token that was asked with last.
  Status keep();
  /// Returns the likeliest tokens of all frames; at most `most`.
  Result<std::vector<SaidToken>> say(std::span<const float> frames, size_t most, const Hooks& hooks);

 private:
  Transducer(const Model& model, Session& session) : model_(&model), session_(&session) {}

  const Model* model_;
  Session* session_;
  uint32_t width_ = 0;
  std::vector<uint32_t> durations_;
  uint32_t tokens_of_frame_ = 0;
};

/// Transcribes a sound in stretches; `found` gets the text of each, and its words where `words` asks for
/// them. Fails for a model without a tokenizer.
Status transcribe_transducer(const Model& model, const SessionChoices& choices, SoundInput& sound, bool words,
                             const Hooks& hooks, const OnPassage& found);

}  // namespace mote::host
