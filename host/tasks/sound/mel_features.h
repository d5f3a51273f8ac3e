// SPDX-License-Identifier: Apache-2.0
//
// Features of a whole stretch of sound, as NeMo's extractor makes them.
#pragma once

#include <span>
#include <vector>

#include "host/tasks/status.h"
#include "mote/sound.h"

namespace mote::host {

class MelFeatures {
 public:
  /// Makes features of MOTE_FEATURES_NORMALIZED_LOG_MEL.
  explicit MelFeatures(const mote_sound_info& sound);

  /// Returns [samples / hop, bins]; nothing of sound that has less than two frames.
  Result<std::vector<float>> of(std::span<const float> samples);

 private:
  mote_sound_info sound_;
  std::vector<float> filters_;
  mote_log_mel spec_{};
  std::vector<double> scratch_;
};

}  // namespace mote::host
