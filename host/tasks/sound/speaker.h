// SPDX-License-Identifier: Apache-2.0
//
// Texts said by a model that speaks.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "host/tasks/hooks.h"
#include "host/tasks/session.h"
#include "host/tasks/sound/spoken_lines.h"
#include "host/tasks/status.h"
#include "mote/voice.h"

namespace mote::host {

/// An utterance before it becomes samples.
struct Utterance {
  uint32_t latent_width = 0;
  std::vector<int64_t> durations;  // frames of each token
  std::vector<float> latents;      // [frames, latent_width]
};

/// Is called with samples from -1 to 1 as they come.
using OnSamples = std::function<void(std::span<const float>)>;

/// Says ids, of any number, in a session of its own; `given` has threads, kernels and a trace. `what` begins
/// messages.
Result<Utterance> utter(const Model& model, const mote_session_options& given, std::span<const int32_t> ids,
                        const mote_speak_options& voice, const Hooks& hooks, std::string_view what,
                        const OnSamples& on_samples);

struct SpeakOptions {
  uint64_t seed = 0;                           // another way to say it
  float speed = 0.0f;                          // times the model's own; 0: that
  std::optional<float> noise, duration_noise;  // none: the model's own
  std::optional<uint32_t> speaker;
};

/// Returns the number of a speaker who is given by it or by a name.
Result<uint32_t> find_speaker(const Model& model, std::string_view speaker);

/// Takes all utterances beforehand, and refuses those that are longer than `most` samples even if each token
/// is said in a frame. `name` begins the message.
Result<SpokenLines> fitting_lines(const Model& model, SpokenLines lines, uint64_t most,
                                  std::string_view name);

/// Says utterances one after the other, with a pause between them, at the rate of the model's voice. Fails
/// for a model that does not speak, and where there is nothing to say.
Status speak(const Model& model, const SessionChoices& choices, SpokenLines lines,
             const SpeakOptions& options, const Hooks& hooks, const OnSamples& on_samples);

}  // namespace mote::host
