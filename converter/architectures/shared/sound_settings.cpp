// SPDX-License-Identifier: Apache-2.0
#include "converter/architectures/shared/sound_settings.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <string_view>

#include "converter/readers/processor_config.h"
#include "host/base/json_file.h"

namespace mote::convert {
namespace {

constexpr uint32_t kSoundRate = 16000;

struct SoundSetting {
  const char* key;
  double wanted, fallback;  // what the model takes; what the extractor's class has for an absent key
};

/// An extractor of another class is refused as well: its class is named, and its numbers would mean something
/// else.
void require_settings(const ProcessorSettings& settings, std::string_view extractor,
                      std::initializer_list<SoundSetting> wanted) {
  const JsonFile file(settings.where);
  const std::string type = file.text(settings.keys, "feature_extractor_type", std::string(extractor));
  if (type != extractor) file.refuse("feature_extractor_type is {}, expected {}", type, extractor);
  for (const SoundSetting& one : wanted) {
    const nlohmann::json* value = file.find(settings.keys, one.key);
    if (value != nullptr && !value->is_number()) file.refuse_value(one.key, value, "a number");
    const double is = value == nullptr ? one.fallback : value->get<double>();
    if (std::abs(is - one.wanted) > 1e-6)
      file.refuse("{} {} is not supported, the model takes {}", one.key, is, one.wanted);
  }
}

}  // namespace

void read_waveform_settings(const Source& source, SoundSpec& sound) {
  const auto settings = read_sound_settings(source);
  if (!settings) return;
  const JsonFile file(settings->where);
  const nlohmann::json* rate = file.find(settings->keys, "sampling_rate");
  if (rate != nullptr && *rate != kSoundRate)
    file.refuse("sampling_rate {} is not supported; {} is", rate->dump(), kSoundRate);
  const nlohmann::json* size = file.find(settings->keys, "feature_size");
  if (size != nullptr && *size != 1) file.refuse("feature_size {} is not supported; 1 is", size->dump());
  sound.normalize = file.flag(settings->keys, "do_normalize", true);
}

void check_whisper_settings(const Source& source, const SoundSpec& sound) {
  const auto settings = read_sound_settings(source);
  if (!settings) return;
  const double seconds = static_cast<double>(sound.frames) * sound.hop / kSoundRate;
  require_settings(*settings, "WhisperFeatureExtractor",
                   {{"feature_size", static_cast<double>(sound.bins), 80},
                    {"sampling_rate", kSoundRate, kSoundRate},
                    {"hop_length", static_cast<double>(sound.hop), 160},
                    {"n_fft", static_cast<double>(sound.fft), 400},
                    {"chunk_length", seconds, 30},
                    {"dither", 0, 0}});
}

void check_parakeet_settings(const Source& source, const SoundSpec& sound) {
  const auto settings = read_sound_settings(source);
  if (!settings) return;
  require_settings(*settings, "ParakeetFeatureExtractor",
                   {{"feature_size", static_cast<double>(sound.bins), 80},
                    {"sampling_rate", kSoundRate, kSoundRate},
                    {"hop_length", static_cast<double>(sound.hop), 160},
                    {"n_fft", static_cast<double>(sound.fft), 512},
                    {"win_length", static_cast<double>(sound.window), 400},
                    {"preemphasis", static_cast<double>(sound.scale), 0.97}});
}

}  // namespace mote::convert
