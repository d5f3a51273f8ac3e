// SPDX-License-Identifier: Apache-2.0
#include "host/tasks/sound/sound_labels.h"

#include <utility>

namespace mote::host {

Result<SoundClassifier> SoundClassifier::make(const Model& model, const SessionChoices& choices) {
  if (model.sound().features != MOTE_FEATURES_FILTER_BANK)
    return failed(Remedy::sound_steps, "{} does not say how its features are made", model.name());
  MOTE_TAKE(FilterBanks banks, FilterBanks::make(model.sound()));
  MOTE_TAKE(RowsEncoder encoder, RowsEncoder::make(model, choices, mote_sound_square_rows(&model.sound())));
  if (model.task() != MOTE_TASK_LABEL_SOUNDS) return failed("{} has no head that labels sound", model.name());
  return SoundClassifier(std::move(banks), std::move(encoder));
}

Result<std::vector<float>> SoundClassifier::probabilities(SoundInput& sound, const Hooks& hooks,
                                                          std::string_view name) {
  const mote_sound_info& info = encoder_.model().sound();
  std::vector<float> samples(banks_.samples(info.frames));
  MOTE_TAKE(const size_t count, sound.read(samples));
  samples.resize(count);
  const std::vector<float> spectrum = banks_.spectrum(samples, info.frames);
  MOTE_TRY(encoder_.encode(square_rows(info, spectrum.data()), hooks, name));
  return encoder_.probabilities();
}

}  // namespace mote::host
