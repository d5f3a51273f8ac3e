// SPDX-License-Identifier: Apache-2.0
#include "host/tasks/sound/sound_labels.h"

#include <algorithm>
#include <utility>

#include "host/tasks/sound/cut_input.h"
#include "host/tasks/sound/mel_reader.h"
#include "host/tasks/sound/waveform.h"

namespace mote::host {

Result<SoundClassifier> SoundClassifier::make(const Model& model, const SessionChoices& choices) {
  const mote_sound_info& sound = model.sound();
  SoundClassifier made(model, choices);
  if (sound.features == MOTE_FEATURES_LOG_MEL) {
    MOTE_TRY(made.set_rows(sound.frames));
  } else if (sound.waveform == 0) {
    if (sound.features != MOTE_FEATURES_FILTER_BANK)
      return failed(Remedy::sound_steps, "{} does not say how its features are made", model.name());
    MOTE_TAKE(made.banks_, FilterBanks::make(sound));
    MOTE_TRY(made.set_rows(mote_sound_square_rows(&sound)));
  }
  if (model.task() != MOTE_TASK_LABEL_SOUNDS) return failed("{} has no head that labels sound", model.name());
  return made;
}

Status SoundClassifier::set_rows(uint32_t rows) {
  if (!encoder_ || rows > most_rows_) {
    encoder_.reset();
    MOTE_TAKE(encoder_, RowsEncoder::make(*model_, choices_, rows));
    most_rows_ = rows;
  }
  encoder_->set_rows(rows);
  return {};
}

Result<std::vector<float>> SoundClassifier::of_waveform(SoundInput& sound, const Hooks& hooks,
                                                        std::string_view name) {
  MOTE_TAKE(const std::vector<float> samples, waveform_rows(*model_, sound, hooks, name));
  mote_program_info program;
  mote_model_get_program(model_->get(), 0, &program);
  MOTE_TRY(set_rows(static_cast<uint32_t>(samples.size() / program.input_width)));
  MOTE_TRY(encoder_->encode(samples, hooks, name));
  return encoder_->probabilities();
}

Result<std::vector<float>> SoundClassifier::of_log_mel(SoundInput& sound, const Hooks& hooks,
                                                       std::string_view name) {
  const mote_sound_info& info = model_->sound();
  CutInput beginning(sound, 0, uint64_t{info.frames} * info.hop);
  MOTE_TAKE(MelReader reader,
            MelReader::read_all(beginning, info.rate, info.fft, info.hop, info.bins, info.frames, hooks));
  std::vector<float> features(size_t{info.frames} * info.bins);
  MOTE_TRY(reader.read(0, info.frames, features.data()));
  MOTE_TRY(encoder_->encode(features, hooks, name));
  return encoder_->probabilities();
}

Result<std::vector<float>> SoundClassifier::probabilities(SoundInput& sound, const Hooks& hooks,
                                                          std::string_view name) {
  if (!banks_ && model_->sound().waveform != 0) return of_waveform(sound, hooks, name);
  if (!banks_) return of_log_mel(sound, hooks, name);
  const mote_sound_info& info = model_->sound();
  std::vector<float> samples(banks_->samples(info.frames));
  MOTE_TAKE(const size_t count, sound.read(samples));
  samples.resize(count);
  const std::vector<float> spectrum = banks_->spectrum(samples, info.frames);
  MOTE_TRY(encoder_->encode(square_rows(info, spectrum.data()), hooks, name));
  return encoder_->probabilities();
}

}  // namespace mote::host
