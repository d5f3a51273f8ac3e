// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

#include "host/tasks/hooks.h"
#include "host/tasks/model.h"
#include "host/tasks/sound/sound_input.h"
#include "host/tasks/status.h"

namespace mote::host {

/// Returns the rows [rows, width] of a whole sound as a model of waveforms takes them. Fails for a sound that
/// is longer than the model hears, or too short for an output; `name` begins messages.
Result<std::vector<float>> waveform_rows(const Model& model, SoundInput& sound, const Hooks& hooks,
                                         std::string_view name);

}  // namespace mote::host
