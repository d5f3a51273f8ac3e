// SPDX-License-Identifier: Apache-2.0
//
// The labels of sounds, by an encoder of squares of filter banks, as AST is.
#pragma once

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
  /// spectrum; `name` begins messages about the sound.
  Result<std::vector<float>> probabilities(SoundInput& sound, const Hooks& hooks, std::string_view name);

  size_t memory_bytes() const { return encoder_.session().arena_bytes(); }

 private:
  SoundClassifier(FilterBanks banks, RowsEncoder encoder)
      : banks_(std::move(banks)), encoder_(std::move(encoder)) {}

  FilterBanks banks_;
  RowsEncoder encoder_;
};

}  // namespace mote::host
