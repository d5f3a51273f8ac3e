// SPDX-License-Identifier: Apache-2.0
#include "tools/mote/speech/source_text.h"

#include <algorithm>
#include <cmath>

#include "host/base/error.h"
#include "mote/sound.h"
#include "tools/mote/speech/stretches.h"
#include "tools/mote/steps.h"
#include "tools/mote/text.h"

namespace mote::cli {
namespace {

constexpr double kStretchSeconds = 30.0;
constexpr double kTokensOfSecond = 6.5;  // that Moonshine's authors allow, more being repetitions

class SourceTranscriber {
 public:
  SourceTranscriber(const ModelFile& file, const mote_session_options& options)
      : file_(file), sound_(sound_of(file)), session_(file, options_for(options, file, sound_)) {
    mote_error error = {};
    const mote_sampling greedy = mote_sampling_default();
    check(mote_sample_begin(session_.get(), &greedy, &error), error, file.path());
  }

  void read(SoundSource& source, const std::function<void(const Passage&)>& found) {
    read_stretches(source, sound_.rate, kStretchSeconds,
                   [&](std::span<const float> samples, uint64_t first) { hear(samples, first, found); });
  }

 private:
  static mote_sound_info sound_of(const ModelFile& file) {
    mote_sound_info sound;
    mote_model_get_sound(file.model(), &sound);
    if (sound.waveform == 0 && sound.features != MOTE_FEATURES_COMPRESSED_FRAMES)
      convert::fail(
          "{} does not say how its features are made of sound: convert it with its preprocessor_config.json",
          file.path());
    require_source_text(file);
    return sound;
  }
  static uint32_t rows_of(const ModelFile& file, const mote_sound_info& sound, size_t samples) {
    return sound.waveform != 0 ? mote_sound_rows(file.model(), samples)
                               : static_cast<uint32_t>((samples + sound.hop - 1) / sound.hop);
  }
  static mote_session_options options_for(mote_session_options options, const ModelFile& file,
                                          const mote_sound_info& sound) {
    options.batch = options.logit_rows = 1;
    options.chunk = rows_of(file, sound, static_cast<size_t>(kStretchSeconds * sound.rate));
    return options;
  }

  void hear(std::span<const float> samples, uint64_t first,
            const std::function<void(const Passage&)>& found) {
    const size_t count = samples.size();
    const uint32_t rows = rows_of(file_, sound_, count);
    if (rows == 0 || mote_model_output_rows(file_.model(), rows) == 0) return;  // too short to hear
    mote_program_info program;
    mote_model_get_program(file_.model(), 1, &program);
    std::vector<float> values(samples.begin(), samples.end());
    if (sound_.normalize != 0) normalize_samples(values);
    values.resize(size_t{rows} * program.input_width);
    if (sound_.waveform == 0)
      mote_compress_frames(values.data(), rows, program.input_width, sound_.scale, values.data());
    mote_error error = {};
    check(mote_session_truncate(session_.get(), 0, 0, &error), error, file_.path());
    mote_batch batch{};
    batch.lengths = &rows;
    batch.count = 1;
    batch.values = values.data();
    encode(session_, batch, file_.path());
    const double rate = sound_.rate, seconds = static_cast<double>(count) / rate;
    const std::string text =
        decode_source(file_, session_, static_cast<uint32_t>(std::ceil(seconds * kTokensOfSecond)));
    if (text.empty()) return;
    found({text, static_cast<double>(first) / rate, static_cast<double>(first + count) / rate});
  }

  const ModelFile& file_;
  mote_sound_info sound_;
  Session session_;
};

}  // namespace

void require_source_text(const ModelFile& file) {
  if (file.info().bos_id < 0 || file.info().stop_count == 0)
    convert::fail("{} names no tokens that begin and end a text", file.path());
  require_tokenizer(file, "convert it with its tokenizer");
}

std::string decode_source(const ModelFile& file, Session& session, uint32_t most) {
  const int32_t start = file.info().bos_id;
  mote_generation generation = mote_generation_default();
  generation.max_tokens = std::min(most, file.info().context - 1);
  std::vector<int32_t> ids;
  const auto take = [](void* user, int32_t id) {
    static_cast<std::vector<int32_t>*>(user)->push_back(id);
    return 0;
  };
  mote_error error = {};
  check(mote_generate(session.get(), &start, 1, &generation, take, &ids, nullptr, &error), error,
        file.path());
  std::erase_if(ids, [&](int32_t id) { return file.host().stops_at(id); });
  return text_of_ids(file, ids, MOTE_SKIP_SPECIAL);
}

void transcribe_source(const ModelFile& file, const mote_session_options& options, SoundSource& source,
                       const std::function<void(const Passage&)>& found) {
  SourceTranscriber(file, options).read(source, found);
}

}  // namespace mote::cli
