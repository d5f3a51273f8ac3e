// SPDX-License-Identifier: Apache-2.0
#include "tools/mote/speech/transducer.h"

#include <algorithm>

#include "host/base/error.h"
#include "mote/sound.h"
#include "tools/mote/steps.h"

namespace mote::cli {
namespace {

constexpr uint32_t kSoundProgram = 1, kMostOfFrame = 10;  // tokens that a frame may have

uint32_t likeliest(std::span<const float> logits) {
  return static_cast<uint32_t>(std::max_element(logits.begin(), logits.end()) - logits.begin());
}

}  // namespace

Transducer::Transducer(const ModelFile& file, Session& session)
    : file_(file), session_(session), vocab_(file.info().vocab) {
  mote_program_info program;
  mote_model_get_program(file.model(), 0, &program);
  width_ = program.input_width;
  mote_speech_info speech;
  mote_model_get_speech(file.model(), &speech);
  if (speech.duration_count == 0)
    convert::fail("{} hears, but is no transducer of tokens and durations", file.path());
  durations_.assign(speech.durations, speech.durations + speech.duration_count);
}

std::vector<float> Transducer::encode(std::span<const float> values) {
  mote_program_info program;
  mote_model_get_program(file_.model(), kSoundProgram, &program);
  const std::vector<mote_row> rows(values.size() / program.input_width, {0, 0, 0, 1});
  mote_rows call{};
  call.rows = rows.data();
  call.count = static_cast<uint32_t>(rows.size());
  call.program = kSoundProgram;
  call.values = values.data();
  compute(session_, call, file_.path());
  std::vector<float> frames;
  for (uint32_t row = 0; row < mote_model_output_rows(file_.model(), call.count); ++row) {
    const float* output = mote_session_output(session_.get(), row);
    frames.insert(frames.end(), output, output + width_);
  }
  return frames;
}

void Transducer::clear() {
  mote_error error = {};
  check(mote_session_truncate(session_.get(), 0, 0, &error), error, file_.path());
}

std::span<const float> Transducer::ask(int32_t last, const float* frame) {
  mote_error error = {};
  check(mote_session_fork(session_.get(), 0, 1, &error), error, file_.path());
  const mote_row row = {1, last, 0, 1};
  mote_rows call{};
  call.rows = &row;
  call.count = 1;
  call.values = frame;
  check(mote_compute(session_.get(), &call, &error), error, file_.path());
  return {mote_session_logits(session_.get(), 0), vocab_};
}

void Transducer::keep() {
  mote_error error = {};
  check(mote_session_fork(session_.get(), 1, 0, &error), error, file_.path());
}

std::vector<Transducer::Said> Transducer::say(std::span<const float> frames, size_t most) {
  const auto count = static_cast<uint32_t>(frames.size() / width_);
  const int32_t blank = file_.info().bos_id;
  clear();
  std::vector<Said> said;
  int32_t last = blank;
  uint32_t of_frame = 0;
  for (uint32_t frame = 0; frame < count && said.size() < most;) {
    const std::span<const float> logits = ask(last, frames.data() + size_t{frame} * width_);
    const auto id = static_cast<int32_t>(likeliest(logits.first(labels())));
    uint32_t moves = durations_[likeliest(logits.subspan(labels()))];
    if (id == blank) {
      moves = std::max(moves, 1u);
    } else {
      said.push_back({id, frame});
      keep();
      last = id;
      if (moves == 0 && ++of_frame >= kMostOfFrame) moves = 1;
    }
    if (moves != 0) of_frame = 0;
    frame += moves;
  }
  return said;
}

}  // namespace mote::cli
