// SPDX-License-Identifier: Apache-2.0
#include "host/tasks/sound/filter_banks.h"

namespace mote::host {

Result<FilterBanks> FilterBanks::make(const mote_sound_info& sound) {
  FilterBanks banks(sound);
  mote_error error = {};
  MOTE_TRY(from_core(mote_sound_filter_bank(&sound, &banks.bank_, &error), error, "sound"));
  banks.scratch_.resize(mote_filter_bank_bytes(&banks.bank_) / sizeof(float));
  MOTE_TRY(from_core(mote_filter_bank_init(&banks.bank_, banks.scratch_.data(), &error), error, "sound"));
  return banks;
}

uint32_t FilterBanks::frames(size_t samples) const {
  return samples < bank_.window ? 0 : static_cast<uint32_t>((samples - bank_.window) / bank_.hop + 1);
}

size_t FilterBanks::samples(uint32_t frames) const {
  return frames == 0 ? 0 : size_t{frames - 1} * bank_.hop + bank_.window;
}

std::vector<float> FilterBanks::spectrum(std::span<const float> samples, uint32_t frames) {
  std::vector<float> features(size_t{frames} * bank_.mels);
  mote_filter_bank_frames(&bank_, scratch_.data(), samples.data(), samples.size(), 0, frames,
                          features.data());
  return features;
}

std::vector<float> FilterBanks::of(std::span<const float> samples) {
  const uint32_t count = frames(samples.size());
  std::vector<float> features = spectrum(samples, count);
  const bool mean = sound_.mean != 0.0f, deviation = sound_.scale != 0.0f;
  if (mote_normalize_columns(features.data(), count, bank_.mels, mean, deviation) == 0 && deviation)
    return {};
  return features;
}

}  // namespace mote::host
