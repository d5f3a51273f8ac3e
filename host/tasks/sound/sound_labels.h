// SPDX-License-Identifier: Apache-2.0
//
// The labels of sounds, by an encoder of squares of filter banks, as AST is, of a waveform, or of
// log-mel features, as Whisper's is.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "host/tasks/rows_encoder.h"
#include "host/tasks/sound/filter_banks.h"
#include "host/tasks/sound/sound_input.h"

namespace mote::host {

class SoundClassifier {
 public:
  /// Fails for a model that takes other features or has no head that labels sound. The model must outlive the
  /// classifier.
  static Result<SoundClassifier> make(const Model& model, const SessionChoices& choices);

  /// Returns the probabilities of the model's labels for the beginning of a sound, as long as the model's
  /// spectrum or features, or for all of it by a model of waveforms, which fails for a sound that is longer
  /// than the model hears; `name` begins messages about the sound.
  Result<std::vector<float>> probabilities(SoundInput& sound, const Hooks& hooks, std::string_view name);

  size_t memory_bytes() const { return encoder_ ? encoder_->session().arena_bytes() : 0; }

 private:
  SoundClassifier(const Model& model, const SessionChoices& choices) : model_(&model), choices_(choices) {}

  /// Makes the encoder have room for so many rows, and its next sequence have them.
  Status set_rows(uint32_t rows);
  Result<std::vector<float>> of_log_mel(SoundInput& sound, const Hooks& hooks, std::string_view name);
  Result<std::vector<float>> of_waveform(SoundInput& sound, const Hooks& hooks, std::string_view name);

  const Model* model_;
  SessionChoices choices_;
  std::optional<FilterBanks> banks_;  // none: the model takes waveforms or log-mel features
  std::optional<RowsEncoder> encoder_;
  uint32_t most_rows_ = 0;  // of the encoder
};

}  // namespace mote::host
