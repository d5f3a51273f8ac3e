// SPDX-License-Identifier: Apache-2.0
#include "tools/mote/speech/token_text.h"

#include <algorithm>

#include "host/base/error.h"
#include "tools/mote/speech/mel_features.h"
#include "tools/mote/speech/stretches.h"
#include "tools/mote/steps.h"
#include "tools/mote/text.h"

namespace mote::cli {
namespace {

mote_sound_info nemo_sound(const ModelFile& file) {
  mote_sound_info sound;
  mote_model_get_sound(file.model(), &sound);
  if (sound.features != MOTE_FEATURES_NORMALIZED_LOG_MEL)
    convert::fail("{}: its file does not say how its features are made of sound", file.path());
  require_tokenizer(file, "convert it with its tokenizer");
  return sound;
}

}  // namespace

uint32_t token_rows(const ModelFile& file) {
  const mote_sound_info sound = nemo_sound(file);
  return static_cast<uint32_t>(kTokenStretchSeconds * sound.rate / sound.hop);
}

void transcribe_tokens(const ModelFile& file, SoundSource& source, const HearTokens& hear,
                       const std::function<void(const Passage&)>& found) {
  const mote_sound_info sound = nemo_sound(file);
  MelFeatures features(sound);
  read_stretches(
      source, sound.rate, kTokenStretchSeconds, [&](std::span<const float> samples, uint64_t first) {
        const std::vector<float> rows = features.of(samples);
        const auto count = static_cast<uint32_t>(rows.size() / sound.bins);
        const uint32_t frames = count == 0 ? 0 : mote_model_output_rows(file.model(), count);
        if (frames == 0) return;  // too short to hear
        const std::vector<SaidToken> said = hear(rows, frames);
        if (said.empty()) return;
        std::vector<int32_t> ids;
        for (const SaidToken& one : said) ids.push_back(one.id);
        const std::string text = text_of_ids(file, ids, 0);
        const double rate = sound.rate, seconds = static_cast<double>(samples.size()) / rate / frames;
        const double begin = static_cast<double>(first) / rate;
        found({text, begin + said.front().frame * seconds, begin + (said.back().frame + 1) * seconds});
      });
}

void transcribe_ctc_tokens(const ModelFile& file, const mote_session_options& given, SoundSource& source,
                           const std::function<void(const Passage&)>& found) {
  mote_sound_info sound;
  mote_model_get_sound(file.model(), &sound);
  if (sound.blank < 0) convert::fail("{} hears, but has no head that writes text", file.path());
  mote_session_options options = given;
  options.batch = 1;
  options.context = options.chunk = token_rows(file);
  options.logit_rows = std::max(1u, mote_model_output_rows(file.model(), options.chunk));
  Session session(file, options);
  mote_output_info output;
  mote_model_get_output(file.model(), &output);
  const auto hear = [&](std::span<const float> features, uint32_t frames) {
    const auto rows = static_cast<uint32_t>(features.size() / sound.bins);
    encode_values(session, features.data(), rows, file.path());
    std::vector<SaidToken> said;
    int32_t last = sound.blank;
    for (uint32_t frame = 0; frame < frames; ++frame) {
      const float* logits = mote_session_output(session.get(), frame);
      const auto id = static_cast<int32_t>(std::max_element(logits, logits + output.width) - logits);
      if (id != last && id != sound.blank) said.push_back({id, frame});
      last = id;
    }
    return said;
  };
  transcribe_tokens(file, source, hear, found);
}

}  // namespace mote::cli
