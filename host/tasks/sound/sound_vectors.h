// SPDX-License-Identifier: Apache-2.0
//
// Vectors of sounds: those of a model that is made for them, or the mean of what an encoder makes of frames.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "host/tasks/hooks.h"
#include "host/tasks/session.h"
#include "host/tasks/sound/decibels.h"
#include "host/tasks/sound/sound_input.h"
#include "host/tasks/status.h"

namespace mote::host {

class SoundVectors {
 public:
  /// Fails for a model that gives no vectors of sounds and is neither a Whisper nor an encoder of waveforms
  /// without a head. The model must outlive it.
  static Result<SoundVectors> make(const Model& model, const SessionChoices& choices);

  /// Returns the floats of a vector.
  uint32_t width() const { return width_; }
  /// Returns a vector, [width]: CLAP's of the beginning of the sound, as long as it hears, else the mean of
  /// the encoder's last hidden states over the frames that have sound, of a Whisper over windows of 30
  /// seconds. Fails for a sound that is too short, or longer than a model of waveforms hears; `name` begins
  /// messages.
  Result<std::vector<float>> of(SoundInput& sound, const Hooks& hooks, std::string_view name);

  size_t memory_bytes() const { return session_.arena_bytes(); }

 private:
  SoundVectors(const Model& model, const SessionChoices& choices) : model_(&model), choices_(choices) {}

  Status make_room(uint32_t rows);
  Status add(const std::vector<float>& values, uint32_t frames, std::vector<double>& sums, const Hooks& hooks,
             std::string_view name);
  Result<uint64_t> add_windows(SoundInput& sound, std::vector<double>& sums, const Hooks& hooks,
                               std::string_view name);

  const Model* model_;
  SessionChoices choices_;
  std::optional<Decibels> decibels_;  // none: the model takes others
  Session session_;
  uint32_t encoder_ = 0;  // the program's number
  uint32_t input_width_ = 0, width_ = 0, room_ = 0;
};

}  // namespace mote::host
