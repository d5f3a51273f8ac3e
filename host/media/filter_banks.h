// SPDX-License-Identifier: Apache-2.0
//
// Kaldi's filter banks of sound, as a model takes them.
#pragma once

#include <span>
#include <vector>

#include "mote/sound.h"

namespace mote::cli {

class FilterBanks {
 public:
  /// Throws convert::Error for other features and for sizes that are none.
  explicit FilterBanks(const mote_sound_info& sound);

  /// Frames that so many samples fill.
  uint32_t frames(size_t samples) const;
  /// Samples of so many frames.
  size_t samples(uint32_t frames) const;
  /// [frames, bins], before columns are normalized. Frames that the samples do not fill are of logarithms 0.
  std::vector<float> spectrum(std::span<const float> samples, uint32_t frames);
  /// Of MOTE_FEATURES_NORMALIZED_FILTER_BANK. [frames, bins]; none of sound without a whole frame, nor of
  /// sound whose frames are all the same where they are to be divided by their deviations, as of silence.
  std::vector<float> of(std::span<const float> samples);

 private:
  mote_sound_info sound_;
  mote_filter_bank bank_{};
  std::vector<float> scratch_;
};

}  // namespace mote::cli
