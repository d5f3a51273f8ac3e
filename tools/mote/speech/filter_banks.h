// SPDX-License-Identifier: Apache-2.0
//
// Features of a whole stretch of sound, as Speech2Text's extractor makes them.
#pragma once

#include <span>
#include <vector>

#include "mote/sound.h"

namespace mote::cli {

class FilterBanks {
 public:
  /// Of MOTE_FEATURES_NORMALIZED_FILTER_BANK. Throws convert::Error for sizes that are none.
  explicit FilterBanks(const mote_sound_info& sound);

  /// Frames that so many samples fill.
  uint32_t frames(size_t samples) const;
  /// Samples of so many frames.
  size_t samples(uint32_t frames) const;
  /// [frames, bins]; none of sound without a whole frame, nor of sound whose frames are all the same where
  /// they are to be divided by their deviations, as of silence.
  std::vector<float> of(std::span<const float> samples);

 private:
  mote_sound_info sound_;
  mote_filter_bank bank_{};
  std::vector<float> scratch_;
};

}  // namespace mote::cli
