// SPDX-License-Identifier: Apache-2.0
#include "host/tasks/sound/mel_features.h"

namespace mote::host {

MelFeatures::MelFeatures(const mote_sound_info& sound)
    : sound_(sound), filters_(size_t{sound.bins} * (sound.fft / 2 + 1)) {
  spec_.fft = sound.fft;
  spec_.hop = sound.hop;
  spec_.mels = sound.bins;
  spec_.bins = sound.fft / 2 + 1;
  spec_.filters = filters_.data();
  spec_.window = sound.window;
  spec_.natural = 1;
  mote_mel_filters(sound.rate, sound.bins, spec_.bins, filters_.data());
  scratch_.resize(mote_log_mel_bytes(&spec_) / sizeof(double) + 1);
}

Result<std::vector<float>> MelFeatures::of(std::span<const float> samples) {
  const auto frames = static_cast<uint32_t>(samples.size() / sound_.hop);
  if (frames < 2) return std::vector<float>();
  std::vector<float> padded(samples.size() + 2 * size_t{sound_.fft});
  for (size_t i = 0; i < samples.size(); ++i)
    padded[sound_.fft / 2 + i] = samples[i] - (i == 0 ? 0.0f : sound_.scale * samples[i - 1]);
  std::vector<float> features(size_t{frames} * sound_.bins);
  mote_error error = {};
  MOTE_TRY(
      from_core(mote_log_mel_frames(&spec_, padded.data(), frames, scratch_.data(), features.data(), &error),
                error, "sound"));
  mote_normalize_features(features.data(), frames, sound_.bins);
  return features;
}

}  // namespace mote::host
