// SPDX-License-Identifier: Apache-2.0
//
// Kaldi's filter banks of sound, as a model takes them.
#pragma once

#include <span>
#include <vector>

#include "host/tasks/status.h"
#include "mote/sound.h"

namespace mote::host {

class FilterBanks {
 public:
  /// Fails for other features and for sizes that are none.
  static Result<FilterBanks> make(const mote_sound_info& sound);

  /// Returns the frames that so many samples fill.
  uint32_t frames(size_t samples) const;
  /// Returns the samples of so many frames.
  size_t samples(uint32_t frames) const;
  /// Returns [frames, bins], before columns are normalized. Frames that the samples do not fill are of
  /// logarithms 0.
  std::vector<float> spectrum(std::span<const float> samples, uint32_t frames);
  /// Returns [frames, bins] of MOTE_FEATURES_NORMALIZED_FILTER_BANK; nothing of sound without a whole frame,
  /// nor of sound whose frames are all the same where they are to be divided by their deviations, as of
  /// silence.
  std::vector<float> of(std::span<const float> samples);

 private:
  explicit FilterBanks(const mote_sound_info& sound) : sound_(sound) {}

  mote_sound_info sound_;
  mote_filter_bank bank_{};
  std::vector<float> scratch_;
};

}  // namespace mote::host
