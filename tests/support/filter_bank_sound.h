// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mote/sound.h"

namespace test {

/// What a model takes of 16 kHz: `bins` of 400 samples every 160, with a mean and a scale of 1.
inline mote_sound_info filter_bank_sound(mote_sound_features features, uint32_t bins) {
  mote_sound_info sound{};
  sound.features = features;
  sound.rate = 16000;
  sound.window = 400;
  sound.hop = 160;
  sound.fft = 512;
  sound.bins = bins;
  sound.mean = sound.scale = 1.0f;
  return sound;
}

}  // namespace test
