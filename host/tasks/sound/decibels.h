// SPDX-License-Identifier: Apache-2.0
//
// CLAP's features of the beginning of a sound.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "host/tasks/model.h"
#include "host/tasks/sound/sound_input.h"
#include "host/tasks/status.h"
#include "mote/sound.h"

namespace mote::host {

class Decibels {
 public:
  /// Fails for a model that takes other features, or whose file does not say how they are made.
  static Result<Decibels> make(const Model& model);

  /// Returns [frames, bins] of the beginning of the sound, as long as the model hears, or of all of it,
  /// filled up. Fails for a sound without samples; `name` begins messages.
  Result<std::vector<float>> of(SoundInput& sound, std::string_view name);

 private:
  explicit Decibels(const mote_sound_info& sound);

  mote_sound_info sound_;
  std::vector<float> filters_;
  std::vector<double> scratch_;
};

/// Fills the samples behind the first `count`, which are not none, as a model wants it.
void fill_up(std::span<float> samples, size_t count, mote_sound_filling filling);

}  // namespace mote::host
