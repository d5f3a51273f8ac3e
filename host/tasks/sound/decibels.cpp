// SPDX-License-Identifier: Apache-2.0
#include "host/tasks/sound/decibels.h"

#include <algorithm>
#include <cmath>

namespace mote::host {
namespace {

constexpr float kDecibels = 10.0f;  // of a logarithm

/// Returns the samples between half a transform of reflected ones on both sides.
std::vector<float> reflected_at_ends(std::span<const float> samples, size_t half) {
  std::vector<float> padded(samples.size() + 2 * half);
  std::copy(samples.begin(), samples.end(), padded.begin() + static_cast<std::ptrdiff_t>(half));
  for (size_t i = 1; i <= half; ++i) {
    padded[half - i] = samples[i];
    padded[half + samples.size() - 1 + i] = samples[samples.size() - 1 - i];
  }
  return padded;
}

}  // namespace

void fill_up(std::span<float> samples, size_t count, mote_sound_filling filling) {
  const size_t whole = samples.size() / count * count;
  const size_t copied = filling == MOTE_FILLING_ZEROS    ? count
                        : filling == MOTE_FILLING_COPIES ? whole
                                                         : samples.size();
  for (size_t i = count; i < copied; ++i) samples[i] = samples[i - count];
  std::fill(samples.begin() + static_cast<std::ptrdiff_t>(copied), samples.end(), 0.0f);
}

Decibels::Decibels(const mote_sound_info& sound)
    : sound_(sound), filters_(size_t{sound.bins} * (sound.fft / 2 + 1)) {
  mote_mel_filters_between(sound.rate, sound.lowest, sound.highest, sound.bins, sound.fft / 2 + 1,
                           filters_.data());
}

Result<Decibels> Decibels::make(const Model& model) {
  const mote_sound_info& sound = model.sound();
  if (sound.features != MOTE_FEATURES_DECIBELS)
    return failed(Remedy::sound_steps, "{} does not say how its features are made", model.name());
  return Decibels(sound);
}

Result<std::vector<float>> Decibels::of(SoundInput& sound, std::string_view name) {
  std::vector<float> samples(
      static_cast<size_t>(std::lround(double{sound_.longest} * static_cast<double>(sound_.rate))));
  MOTE_TAKE(const size_t count, sound.read(samples));
  if (count == 0) return failed("{}: the sound is too short for the model", name);
  fill_up(samples, count, sound_.filling);
  const std::vector<float> padded = reflected_at_ends(samples, sound_.fft / 2);
  mote_log_mel spec{};
  spec.fft = sound_.fft;
  spec.hop = sound_.hop;
  spec.mels = sound_.bins;
  spec.bins = sound_.fft / 2 + 1;
  spec.filters = filters_.data();
  scratch_.resize(mote_log_mel_bytes(&spec) / sizeof(double) + 1);
  const auto frames = static_cast<uint32_t>(samples.size() / sound_.hop + 1);
  std::vector<float> logarithms(size_t{frames} * sound_.bins);
  mote_error error = {};
  MOTE_TRY(
      from_core(mote_log_mel_frames(&spec, padded.data(), frames, scratch_.data(), logarithms.data(), &error),
                error, name));
  for (float& value : logarithms) value *= kDecibels;
  std::vector<float> spectrum(size_t{sound_.frames} * sound_.bins);
  mote_resize_frames(logarithms.data(), frames, sound_.bins, sound_.frames, spectrum.data());
  return spectrum;
}

}  // namespace mote::host
