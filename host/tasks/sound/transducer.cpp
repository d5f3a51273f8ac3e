// SPDX-License-Identifier: Apache-2.0
#include "host/tasks/sound/transducer.h"

#include <algorithm>

#include "host/tasks/bounded_steps.h"
#include "host/tasks/text.h"

namespace mote::host {
namespace {

constexpr uint32_t kSoundProgram = 1;

uint32_t likeliest(std::span<const float> logits) {
  return static_cast<uint32_t>(std::max_element(logits.begin(), logits.end()) - logits.begin());
}

}  // namespace

Result<Transducer> Transducer::make(const Model& model, Session& session) {
  Transducer transducer(model, session);
  mote_program_info program;
  mote_model_get_program(model.get(), 0, &program);
  transducer.width_ = program.input_width;
  mote_speech_info speech;
  mote_model_get_speech(model.get(), &speech);
  if (speech.duration_count == 0)
    return failed("{} hears, but is no transducer of tokens and durations", model.name());
  transducer.durations_.assign(speech.durations, speech.durations + speech.duration_count);
  transducer.tokens_of_frame_ = speech.tokens_of_frame;
  return transducer;
}

Result<std::vector<float>> Transducer::encode(std::span<const float> values, const Hooks& hooks) {
  mote_program_info program;
  mote_model_get_program(model_->get(), kSoundProgram, &program);
  const std::vector<mote_row> rows(values.size() / program.input_width, {0, 0, 0, 1});
  mote_rows call{};
  call.rows = rows.data();
  call.count = static_cast<uint32_t>(rows.size());
  call.program = kSoundProgram;
  call.values = values.data();
  MOTE_TRY(compute(*session_, call, hooks, model_->name()));
  std::vector<float> frames;
  for (uint32_t row = 0; row < mote_model_output_rows(model_->get(), call.count); ++row) {
    const float* output = mote_session_output(session_->get(), row);
    frames.insert(frames.end(), output, output + width_);
  }
  return frames;
}

Status Transducer::clear() {
  mote_error error = {};
  return from_core(mote_session_truncate(session_->get(), 0, 0, &error), error, model_->name());
}

Result<std::span<const float>> Transducer::ask(int32_t last, const float* frame, const Hooks& hooks) {
  mote_error error = {};
  MOTE_TRY(from_core(mote_session_fork(session_->get(), 0, 1, &error), error, model_->name()));
  const mote_row row = {1, last, 0, 1};
  mote_rows call{};
  call.rows = &row;
  call.count = 1;
  call.values = frame;
  MOTE_TRY(compute(*session_, call, hooks, model_->name()));
  return std::span<const float>(mote_session_logits(session_->get(), 0), model_->info().vocab);
}

Status Transducer::keep() {
  mote_error error = {};
  return from_core(mote_session_fork(session_->get(), 1, 0, &error), error, model_->name());
}

Result<std::vector<SaidToken>> Transducer::say(std::span<const float> frames, size_t most,
                                               const Hooks& hooks) {
  const auto count = static_cast<uint32_t>(frames.size() / width_);
  const int32_t blank = model_->info().bos_id;
  MOTE_TRY(clear());
  std::vector<SaidToken> said;
  int32_t last = blank;
  uint32_t of_frame = 0;
  for (uint32_t frame = 0; frame < count && said.size() < most;) {
    MOTE_TAKE(const std::span<const float> logits, ask(last, frames.data() + size_t{frame} * width_, hooks));
    const auto id = static_cast<int32_t>(likeliest(logits.first(labels())));
    uint32_t moves = durations_[likeliest(logits.subspan(labels()))];
    if (id == blank) {
      moves = std::max(moves, 1u);
    } else {
      const double share = probability_at(logits.first(labels()), static_cast<size_t>(id));
      said.push_back({id, frame, moves, share});
      MOTE_TRY(keep());
      last = id;
      if (moves == 0 && ++of_frame >= tokens_of_frame_) moves = 1;
    }
    if (moves != 0) of_frame = 0;
    frame += moves;
  }
  return said;
}

Status transcribe_transducer(const Model& model, const SessionChoices& choices, SoundInput& sound, bool words,
                             const Hooks& hooks, const OnPassage& found) {
  MOTE_TRY(require_tokenizer(model, Remedy::convert_tokenizer));
  mote_session_options options = session_options(model, choices);
  options.batch = 2;
  options.chunk = token_rows(model);
  options.logit_rows = std::max(2u, mote_model_output_rows(model.get(), options.chunk));
  options.context = model.info().context;
  MOTE_TAKE(Session session, Session::begin(model, options));
  MOTE_TAKE(Transducer transducer, Transducer::make(model, session));
  const auto hear = [&](std::span<const float> features, uint32_t frames) -> Result<std::vector<SaidToken>> {
    MOTE_TAKE(const std::vector<float> encoded, transducer.encode(features, hooks));
    return transducer.say(encoded, transducer.tokens_of_frame() * size_t{frames}, hooks);
  };
  return transcribe_tokens(model, sound, hear, words, hooks, found);
}

}  // namespace mote::host
