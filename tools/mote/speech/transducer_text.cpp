// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "converter/error.h"
#include "mote/sound.h"
#include "tools/mote/speech/stretches.h"
#include "tools/mote/speech/transducer.h"
#include "tools/mote/text.h"

namespace mote::cli {
namespace {

constexpr double kStretchSeconds = 30.0;
constexpr size_t kMostOfFrame = 10;  // tokens

/// NeMo's features of a whole stretch.
class NemoFeatures {
 public:
  explicit NemoFeatures(const mote_sound_info& sound)
      : sound_(sound), filters_(size_t{sound.bins} * (sound.fft / 2 + 1)) {
    mote_mel_filters(sound.rate, sound.bins, sound.fft / 2 + 1, filters_.data());
    spec_.fft = sound.fft;
    spec_.hop = sound.hop;
    spec_.mels = sound.bins;
    spec_.bins = sound.fft / 2 + 1;
    spec_.filters = filters_.data();
    spec_.window = sound.window;
    spec_.natural = 1;
    scratch_.resize(mote_log_mel_bytes(&spec_) / sizeof(double) + 1);
  }

  /// [samples / hop, bins]; none of sound that has less than two frames.
  std::vector<float> of(std::span<const float> samples) {
    const auto frames = static_cast<uint32_t>(samples.size() / sound_.hop);
    if (frames < 2) return {};
    std::vector<float> padded(samples.size() + 2 * size_t{sound_.fft});
    for (size_t i = 0; i < samples.size(); ++i)
      padded[sound_.fft / 2 + i] = samples[i] - (i == 0 ? 0.0f : sound_.scale * samples[i - 1]);
    std::vector<float> features(size_t{frames} * sound_.bins);
    mote_error error = {};
    check(mote_log_mel_frames(&spec_, padded.data(), frames, scratch_.data(), features.data(), &error), error,
          "sound");
    mote_normalize_features(features.data(), frames, sound_.bins);
    return features;
  }

 private:
  mote_sound_info sound_;
  std::vector<float> filters_;
  mote_log_mel spec_{};
  std::vector<double> scratch_;
};

mote_sound_info nemo_sound(const ModelFile& file) {
  mote_sound_info sound;
  mote_model_get_sound(file.model(), &sound);
  if (sound.features != MOTE_FEATURES_NORMALIZED_LOG_MEL)
    convert::fail("{}: its file does not say how its features are made of sound", file.path());
  require_tokenizer(file, "convert it with its tokenizer");
  return sound;
}

}  // namespace

void transcribe_transducer(const ModelFile& file, const mote_session_options& given, SoundSource& source,
                           const std::function<void(const Passage&)>& found) {
  const mote_sound_info sound = nemo_sound(file);
  mote_session_options options = given;
  options.batch = 2;
  options.chunk = static_cast<uint32_t>(kStretchSeconds * sound.rate / sound.hop);
  options.logit_rows = std::max(2u, mote_model_output_rows(file.model(), options.chunk));
  options.context = file.info().context;
  Session session(file, options);
  Transducer transducer(file, session);
  NemoFeatures features(sound);
  read_stretches(source, sound.rate, kStretchSeconds, [&](std::span<const float> samples, uint64_t first) {
    const std::vector<float> rows = features.of(samples);
    const auto count = static_cast<uint32_t>(rows.size() / sound.bins);
    const uint32_t frames = count == 0 ? 0 : mote_model_output_rows(file.model(), count);
    if (frames == 0) return;
    const std::vector<Transducer::Said> said = transducer.say(transducer.encode(rows), kMostOfFrame * frames);
    if (said.empty()) return;
    TextStream stream(file, 0);
    std::string text;
    for (const Transducer::Said& one : said) text += stream.next(one.id);
    text += stream.finish();
    const double rate = sound.rate, seconds = static_cast<double>(samples.size()) / rate / frames;
    const double begin = static_cast<double>(first) / rate;
    found({text, begin + said.front().frame * seconds, begin + (said.back().frame + 1) * seconds});
  });
}

}  // namespace mote::cli
