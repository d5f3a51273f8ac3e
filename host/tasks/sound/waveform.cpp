// SPDX-License-Identifier: Apache-2.0
#include "host/tasks/sound/waveform.h"

#include <algorithm>
#include <span>

#include "host/tasks/sound/stretches.h"
#include "mote/sound.h"

namespace mote::host {

Result<std::vector<float>> waveform_rows(const Model& model, SoundInput& sound, const Hooks& hooks,
                                         std::string_view name) {
  mote_program_info program;
  mote_model_get_program(model.get(), 0, &program);
  mote_model_info info;
  mote_model_get_info(model.get(), &info);
  const size_t most = size_t{info.context} * program.input_width;
  std::vector<float> samples;
  for (size_t count = 1; count != 0;) {
    if (hooks.stopped()) return cancelled();
    const size_t held = samples.size();
    samples.resize(held + std::min<size_t>(model.sound().rate, most + 1 - held));
    MOTE_TAKE(count, sound.read(std::span(samples).subspan(held)));
    samples.resize(held + count);
    if (samples.size() > most)
      return failed("{}: the model hears {} seconds at most", name, most / std::max(1u, model.sound().rate));
  }
  const uint32_t rows = mote_sound_rows(model.get(), samples.size());
  if (rows == 0 || mote_model_output_rows(model.get(), rows) == 0)
    return failed("{}: the sound is too short for the model", name);
  if (model.sound().normalize != 0) normalize_samples(samples);
  samples.resize(size_t{rows} * program.input_width);
  return samples;
}

}  // namespace mote::host
