// SPDX-License-Identifier: Apache-2.0
//
// Features of a whole stretch of sound, as NeMo's extractor makes them.
#pragma once

#include <span>
#include <vector>

#include "mote/sound.h"

namespace mote::cli {

class MelFeatures {
 public:
  /// Of MOTE_FEATURES_NORMALIZED_LOG_MEL.
  explicit MelFeatures(const mote_sound_info& sound);

  /// [samples / hop, bins]; none of sound that has less than two frames.
  std::vector<float> of(std::span<const float> samples);

 private:
  mote_sound_info sound_;
  std::vector<float> filters_;
  mote_log_mel spec_{};
  std::vector<double> scratch_;
};

}  // namespace mote::cli
