// SPDX-License-Identifier: Apache-2.0
#include "tools/mote/forward/forward_voice.h"

#include <string_view>

#include "converter/readers/safetensors.h"
#include "host/base/error.h"
#include "host/tasks/sound/speaker.h"
#include "tools/mote/ids.h"
#include "tools/mote/tokens.h"

namespace mote::cli {
namespace {

constexpr std::string_view kNoise = "noise_duration";

struct VoiceRows {
  const Case* item;
  Outputs* outputs;

  static void take(void* user, const char* name, const float* data, uint32_t rows, uint32_t width,
                   size_t stride) {
    const auto& self = *static_cast<const VoiceRows*>(user);
    if (!std::string_view(name).starts_with("hidden.")) return;
    for (uint32_t row = 0; row < rows; ++row)
      store_row(*self.outputs, *self.item, name, 0, row, data + row * stride, width);
  }
};

/// Returns the speaker of a case; 0 where the file names none.
uint32_t speaker_of(const ModelFile& file, const convert::SafetensorsFile& data, const std::string& prefix) {
  const std::string name = prefix + "speaker_id";
  if (!data.has(name)) return 0;
  const std::vector<int64_t> speaker = data.i64(name);
  if (speaker.size() != 1 || speaker[0] < 0 || speaker[0] > UINT32_MAX)
    convert::fail("{}: {} is no number of a speaker", file.path(), name);
  return static_cast<uint32_t>(speaker[0]);
}

/// Computes a case of one text.
class VoiceCase {
 public:
  VoiceCase(const ModelFile& file, const mote_session_options& options, const Case& item, Outputs& outputs)
      : file_(file), options_(options), item_(item), outputs_(outputs) {
    if (item.sequences.size() != 1 || item.sequences[0].ids.size() != item.columns)
      convert::fail("{} takes one text at a time, without padding", file.path());
    check_ids(ids(), file, what());
  }

  void run(const std::string& prefix, const mote_speak_options& voice) {
    std::vector<float> samples;
    const host::Utterance said = take(host::utter(
        file_.host(), options_, ids(), voice, hooks(), what(),
        [&](std::span<const float> piece) { samples.insert(samples.end(), piece.begin(), piece.end()); }));
    outputs_.ids[prefix + "durations"] = {{1, ids().size()}, said.durations};
    const size_t width = said.latent_width, frames = said.latents.size() / width;
    Array<float> spectrogram{{1, width, frames}, std::vector<float>(said.latents.size())};
    for (size_t i = 0; i < said.latents.size(); ++i)
      spectrogram.values[i % width * frames + i / width] = said.latents[i];
    outputs_.rows[prefix + "spectrogram"] = std::move(spectrogram);
    outputs_.rows[prefix + "waveform"] = {{1, samples.size()}, samples};
  }

  void run_noisy(const std::string& prefix, const convert::SafetensorsFile& data) {
    const std::string durations = prefix + std::string(kNoise), prior = prefix + "noise_prior";
    mote_voice_info voice;
    mote_model_get_voice(file_.model(), &voice);
    if (!data.has(prior)) convert::fail("{}: {} without {}", file_.path(), durations, prior);
    const std::vector<uint64_t> wanted = {1, 2, ids().size()}, &shape = data.shape(prior);
    if (data.shape(durations) != wanted || shape.size() != 3 || shape[0] != 1 || shape[1] != voice.latents)
      convert::fail("{} or {} has another shape than the model's noise", durations, prior);
    const std::vector<float> of_tokens = data.f32(durations), of_frames = data.f32(prior);
    mote_speak_options options = mote_speak_options_default(file_.model());
    options.token_noise = of_tokens.data();
    options.frame_noise = of_frames.data();
    options.noise_frames = static_cast<uint32_t>(shape[2]);
    options.speaker = speaker_of(file_, data, prefix);
    run(prefix, options);
  }

 private:
  const std::vector<int32_t>& ids() const { return item_.sequences[0].ids; }
  std::string what() const { return "forward: " + item_.prefix + "input_ids"; }

  const ModelFile& file_;
  const mote_session_options& options_;
  const Case& item_;
  Outputs& outputs_;
};

}  // namespace

void forward_voice(const ModelFile& file, const mote_session_options& given, const std::string& path,
                   bool hidden, Outputs& outputs) {
  const convert::SafetensorsFile data(path);
  for (const Case& item : read_cases(path)) {
    mote_session_options options = given;
    VoiceRows rows{&item, &outputs};
    if (hidden) options.trace = VoiceRows::take, options.trace_user = &rows;
    mote_speak_options silent = mote_speak_options_default(file.model());
    silent.noise = silent.duration_noise = 0.0f;
    silent.speaker = speaker_of(file, data, item.prefix);
    VoiceCase(file, options, item, outputs).run(item.prefix, silent);
    if (!item.prefix.empty()) continue;
    for (const auto& [name, tensor] : data.tensors()) {
      if (name != kNoise && !name.ends_with("." + std::string(kNoise))) continue;
      VoiceCase(file, given, item, outputs).run_noisy(name.substr(0, name.size() - kNoise.size()), data);
    }
  }
}

}  // namespace mote::cli
