// SPDX-License-Identifier: Apache-2.0
#include "host/tasks/sound/source_text.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "host/tasks/bounded_steps.h"
#include "host/tasks/sound/stretches.h"
#include "host/tasks/text.h"

namespace mote::host {
namespace {

/// Returns the rows of the model's source that so many samples are.
uint32_t source_rows(const Model& model, size_t samples) {
  const mote_sound_info& sound = model.sound();
  return sound.waveform != 0 ? mote_sound_rows(model.get(), samples)
                             : static_cast<uint32_t>((samples + sound.hop - 1) / sound.hop);
}

/// Returns the seconds of a stretch at most: those that the model hears at once, and has a source's rows for.
double seconds_at_once(const Model& model) {
  const mote_sound_info& sound = model.sound();
  if (sound.waveform != 0) return double{sound.longest};
  mote_program_info program;
  mote_model_get_program(model.get(), model.encoder(), &program);
  return std::min(double{sound.longest}, static_cast<double>(program.context) * sound.hop / sound.rate);
}

class SourceTranscriber {
 public:
  static Result<SourceTranscriber> make(const Model& model, const SessionChoices& choices) {
    MOTE_TRY(require_source_text(model));
    SourceTranscriber made(model);
    mote_session_options options = session_options(model, choices);
    options.batch = options.logit_rows = 1;
    options.chunk =
        source_rows(model, static_cast<size_t>(std::llround(seconds_at_once(model) * model.sound().rate)));
    MOTE_TAKE(made.session_, Session::begin(model, options));
    mote_error error = {};
    const mote_sampling greedy = mote_sampling_default();
    MOTE_TRY(from_core(mote_sample_begin(made.session_.get(), &greedy, &error), error, model.name()));
    return made;
  }

  Status hear(std::span<const float> samples, uint64_t first, const Hooks& hooks, const OnPassage& found) {
    const size_t count = samples.size();
    const mote_sound_info& sound = model_->sound();
    const uint32_t rows = source_rows(*model_, count);
    if (rows == 0 || mote_model_output_rows(model_->get(), rows) == 0) return {};  // too short to hear
    mote_program_info program;
    mote_model_get_program(model_->get(), model_->encoder(), &program);
    std::vector<float> values(samples.begin(), samples.end());
    if (sound.normalize != 0) normalize_samples(values);
    values.resize(size_t{rows} * program.input_width);
    if (sound.waveform == 0)
      mote_compress_frames(values.data(), rows, program.input_width, sound.scale, values.data());
    mote_error error = {};
    MOTE_TRY(from_core(mote_session_truncate(session_.get(), 0, 0, &error), error, model_->name()));
    MOTE_TRY(encode_values(session_, values.data(), rows, hooks, model_->name()));
    const double rate = sound.rate, seconds = static_cast<double>(count) / rate;
    MOTE_TAKE(const std::string text,
              decode(static_cast<uint32_t>(std::ceil(seconds * tokens_of_second_)), hooks));
    if (!text.empty())
      found({text, static_cast<double>(first) / rate, static_cast<double>(first + count) / rate});
    return {};
  }

 private:
  explicit SourceTranscriber(const Model& model) : model_(&model) {
    mote_speech_info speech;
    mote_model_get_speech(model.get(), &speech);
    tokens_of_second_ = double{speech.tokens_of_second};
  }

  /// Returns the text, of at most so many tokens, that sequence 0's source is written down as.
  Result<std::string> decode(uint32_t most, const Hooks& hooks) {
    const int32_t start = model_->info().bos_id;
    mote_generation generation = mote_generation_default();
    generation.max_tokens = std::min(most, model_->info().context - 1);
    mote_error error = {};
    MOTE_TRY(from_core(mote_generation_begin(session_.get(), &start, 1, &generation, &error), error,
                       model_->name()));
    std::vector<int32_t> said;
    MOTE_TRY(in_steps(hooks, [&](uint32_t operations, int& done) -> Status {
      mote_event event = {};
      MOTE_TRY(
          from_core(mote_session_step(session_.get(), operations, &event, &error), error, model_->name()));
      if (event.has_token != 0) said.push_back(event.id);
      done = event.finish != MOTE_FINISH_NONE ? 1 : 0;
      return {};
    }));
    std::erase_if(said, [&](int32_t id) { return model_->stops_at(id); });
    return text_of_ids(*model_, said, MOTE_SKIP_SPECIAL);
  }

  const Model* model_;
  double tokens_of_second_ = 0;
  Session session_;
};

}  // namespace

Status require_source_text(const Model& model) {
  if (model.info().bos_id < 0 || model.info().stop_count == 0)
    return failed("{} names no tokens that begin and end a text", model.name());
  return require_tokenizer(model, Remedy::convert_tokenizer);
}

Status transcribe_source(const Model& model, const SessionChoices& choices, SoundInput& sound,
                         const Hooks& hooks, const OnPassage& found) {
  MOTE_TAKE(SourceTranscriber transcriber, SourceTranscriber::make(model, choices));
  return read_stretches(sound, model.sound().rate, seconds_at_once(model), hooks,
                        [&](std::span<const float> samples, uint64_t first) {
                          return transcriber.hear(samples, first, hooks, found);
                        });
}

}  // namespace mote::host
