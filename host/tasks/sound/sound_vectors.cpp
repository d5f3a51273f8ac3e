// SPDX-License-Identifier: Apache-2.0
#include "host/tasks/sound/sound_vectors.h"

#include <algorithm>

#include "host/tasks/bounded_steps.h"
#include "host/tasks/rows_encoder.h"
#include "host/tasks/sound/mel_reader.h"
#include "host/tasks/sound/waveform.h"

namespace mote::host {

Result<SoundVectors> SoundVectors::make(const Model& model, const SessionChoices& choices) {
  SoundVectors made(model, choices);
  const bool whisper = model.task() == MOTE_TASK_TRANSCRIBE_WINDOWS;
  const bool headless =
      model.encodes() && model.sound().waveform != 0 && model.output().kind == MOTE_OUTPUT_HIDDEN;
  const bool embeds = model.task() == MOTE_TASK_EMBED_SOUNDS;
  if (!whisper && !headless && !embeds)
    return failed(
        "{} gives no vectors of sound: a CLAP does, a Whisper, or an encoder of waveforms without a head",
        model.name());
  if (embeds) {
    MOTE_TAKE(made.decibels_, Decibels::make(model));
  }
  made.encoder_ = model.encoder();
  mote_program_info program;
  mote_model_get_program(model.get(), made.encoder_, &program);
  made.input_width_ = program.input_width;
  made.width_ = program.output_width;
  return made;
}

Status SoundVectors::make_room(uint32_t rows) {
  if (session_.get() != nullptr && rows <= room_) return {};
  mote_session_options options = session_options(*model_, choices_);
  options.batch = 1;
  options.context = model_->encodes() ? rows : 1;
  options.chunk = rows;
  options.logit_rows = std::max(1u, mote_model_output_rows(model_->get(), rows));
  session_ = Session();
  MOTE_TAKE(session_, Session::begin(*model_, options));
  room_ = rows;
  return {};
}

/// Encodes rows of the input and adds the first `frames` of the outputs to the sums.
Status SoundVectors::add(const std::vector<float>& values, uint32_t frames, std::vector<double>& sums,
                         const Hooks& hooks, std::string_view name) {
  const std::vector<mote_row> rows(values.size() / input_width_, mote_row{0, 0, 0, 1});
  mote_rows call{};
  call.rows = rows.data();
  call.count = static_cast<uint32_t>(rows.size());
  call.program = encoder_;
  call.values = values.data();
  MOTE_TRY(make_room(call.count));
  MOTE_TRY(compute(session_, call, hooks, name));
  for (uint32_t frame = 0; frame < frames; ++frame) {
    const float* const row = mote_session_output(session_.get(), frame);
    for (uint32_t i = 0; i < width_; ++i) sums[i] += static_cast<double>(row[i]);
  }
  return {};
}

/// Adds the frames of Whisper's windows, one behind the other, and returns how many there are.
Result<uint64_t> SoundVectors::add_windows(SoundInput& sound, std::vector<double>& sums, const Hooks& hooks,
                                           std::string_view name) {
  const mote_sound_info& info = model_->sound();
  MOTE_TAKE(MelReader reader,
            MelReader::read_all(sound, info.rate, info.fft, info.hop, info.bins, info.frames, hooks));
  const uint32_t outputs = mote_model_output_rows(model_->get(), info.frames),
                 hops = info.frames / std::max(1u, outputs);
  std::vector<float> features(size_t{info.frames} * info.bins);
  uint64_t count = 0;
  for (uint64_t first = 0; first < reader.frames(); first += info.frames) {
    MOTE_TRY(reader.read(first, info.frames, features.data()));
    const uint64_t heard = std::min<uint64_t>(info.frames, reader.frames() - first);
    const auto frames = static_cast<uint32_t>((heard + hops - 1) / hops);
    MOTE_TRY(add(features, frames, sums, hooks, name));
    count += frames;
  }
  if (count == 0) return failed("{}: the sound is too short for the model", name);
  return count;
}

Result<std::vector<float>> SoundVectors::of(SoundInput& sound, const Hooks& hooks, std::string_view name) {
  std::vector<double> sums(width_);
  uint64_t count = 0;
  if (decibels_) {
    MOTE_TAKE(const std::vector<float> spectrum, decibels_->of(sound, name));
    count = 1;
    MOTE_TRY(add(square_rows(model_->sound(), spectrum.data()), 1, sums, hooks, name));
  } else if (model_->sound().waveform == 0) {
    MOTE_TAKE(count, add_windows(sound, sums, hooks, name));
  } else {
    MOTE_TAKE(const std::vector<float> values, waveform_rows(*model_, sound, hooks, name));
    count = mote_model_output_rows(model_->get(), static_cast<uint32_t>(values.size() / input_width_));
    MOTE_TRY(add(values, static_cast<uint32_t>(count), sums, hooks, name));
  }
  std::vector<float> mean(width_);
  for (uint32_t i = 0; i < width_; ++i) mean[i] = static_cast<float>(sums[i] / static_cast<double>(count));
  return mean;
}

}  // namespace mote::host
