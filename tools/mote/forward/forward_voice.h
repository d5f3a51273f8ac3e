// SPDX-License-Identifier: Apache-2.0
//
// mote forward of models that speak.
#pragma once

#include "tools/mote/forward/forward_case.h"
#include "tools/mote/session.h"

namespace mote::cli {

/// input_ids [1, T]: durations [1, T], spectrogram [1, latents, frames] and waveform [1, samples] without
/// noise; of each <prefix>noise_duration [1, 2, T] and <prefix>noise_prior [1, latents, frames] the same with
/// the model's share of that noise. Throws convert::Error.
void forward_voice(const ModelFile& file, const mote_session_options& options, const std::string& path,
                   bool hidden, Outputs& outputs);

}  // namespace mote::cli
