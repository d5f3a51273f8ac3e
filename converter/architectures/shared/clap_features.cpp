// SPDX-License-Identifier: Apache-2.0
#include "converter/architectures/shared/clap_features.h"

#include <nlohmann/json.hpp>

#include "converter/architectures/shared/filter_bank.h"
#include "converter/readers/processor_config.h"

namespace mote::convert {
namespace {

constexpr uint32_t kMostFft = 4096;

SoundFilling read_filling(Config& settings) {
  const std::string padding = settings.text("padding", "repeatpad");
  if (padding == "repeatpad") return SoundFilling::copies;
  if (padding == "repeat") return SoundFilling::cut_copies;
  if (padding != "pad")
    settings.refuse("padding {} is not supported; supported are repeatpad, repeat, pad", padding);
  return SoundFilling::zeros;
}

/// Reads the frequencies that the filters lie between.
void read_frequencies(Config& settings, SoundSpec& sound) {
  const double lowest = settings.number("frequency_min", 0.0),
               highest = settings.number("frequency_max", 14000.0);
  if (!(lowest >= 0.0 && lowest < highest && highest <= sound.rate / 2.0))
    settings.refuse("frequency_min {} and frequency_max {} at sampling_rate {}", lowest, highest, sound.rate);
  sound.lowest = static_cast<float>(lowest);
  sound.highest = static_cast<float>(highest);
}

}  // namespace

void read_clap_features(const Source& source, SoundSpec& sound) {
  const auto read = read_sound_settings(source);
  if (!read) return;
  Config settings(read->keys, read->where);
  if (settings.text("feature_extractor_type") != "ClapFeatureExtractor")
    settings.refuse("feature_extractor_type is not ClapFeatureExtractor");
  if (const std::string kind = settings.text("truncation", "fusion"); kind != "rand_trunc")
    settings.refuse("truncation {} is not supported; rand_trunc is", kind);
  expect_size(settings, "feature_size", sound.bins, 64);
  sound.rate = settings.size("sampling_rate", 1000, 1u << 20, kClapRate);
  sound.fft = settings.size("fft_window_size", 2, kMostFft, 1024);
  sound.hop = settings.size("hop_length", 1, 1u << 16, 480);
  const uint32_t seconds = settings.size("max_length_s", 1, 600, 10);
  const uint64_t samples = uint64_t{seconds} * sound.rate, frames = samples / sound.hop + 1;
  if (sound.fft % 2 != 0) settings.refuse("fft_window_size {} is not even", sound.fft);
  if (samples > kMaxSize) settings.refuse("max_length_s {} of {} samples each", seconds, sound.rate);
  if (frames > sound.frames)
    settings.refuse("max_length_s {} makes {} frames, the model sees {} at most", seconds, frames,
                    sound.frames);
  sound.longest = static_cast<float>(seconds);
  sound.filling = read_filling(settings);
  read_frequencies(settings, sound);
  sound.features = SoundFeatures::decibels;
  // Keys that the extractor computes itself, or passes over: padding is always of zeros, and decibels have no
  // range.
  for (const char* key :
       {"padding_side", "padding_value", "processor_class", "return_attention_mask", "top_db", "n_fft",
        "nb_frequency_bins", "nb_max_frames", "nb_max_samples", "chunk_length_s"})
    settings.value(key);
  settings.finish();
  settings.check_keys();
}

}  // namespace mote::convert
