// SPDX-License-Identifier: Apache-2.0
#include "host/media/filter_banks.h"

#include "host/base/error.h"

namespace mote::cli {
namespace {

void check_bank(mote_status status, const mote_error& error) {
  if (status != MOTE_OK) convert::fail("sound: {}", error.text);
}

}  // namespace

FilterBanks::FilterBanks(const mote_sound_info& sound) : sound_(sound) {
  mote_error error{};
  check_bank(mote_sound_filter_bank(&sound_, &bank_, &error), error);
  scratch_.resize(mote_filter_bank_bytes(&bank_) / sizeof(float));
  check_bank(mote_filter_bank_init(&bank_, scratch_.data(), &error), error);
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

}  // namespace mote::cli
