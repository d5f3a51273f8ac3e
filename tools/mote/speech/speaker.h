// SPDX-License-Identifier: Apache-2.0
//
// Utterances of a model that speaks, of any length: a session for each.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "mote/voice.h"
#include "tools/mote/session.h"

namespace mote::cli {

struct Utterance {
  uint32_t latent_width = 0;
  std::vector<int64_t> durations;  // frames of each token
  std::vector<float> latents;      // [frames, latent_width]
  std::vector<float> samples;
};

bool speaks(const ModelFile& file);

/// Throws convert::Error "what: ...". `options` has threads, kernels and a trace.
Utterance speak(const ModelFile& file, const mote_session_options& options, const std::vector<int32_t>& ids,
                const mote_speak_options& voice, const std::string& what);

}  // namespace mote::cli
