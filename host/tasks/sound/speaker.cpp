// SPDX-License-Identifier: Apache-2.0
#include "host/tasks/sound/speaker.h"

#include <algorithm>
#include <utility>

#include "host/tasks/bounded_steps.h"
#include "host/tasks/text.h"

namespace mote::host {
namespace {

constexpr uint32_t kLeastFrames = 128, kMostFrames = 1u << 16;
constexpr uint32_t kFramesOfToken = 4;  // that there is room for at first
constexpr double kPause = 0.3;          // seconds between utterances

mote_voice_info voice_of(const Model& model) {
  mote_voice_info voice;
  mote_model_get_voice(model.get(), &voice);
  return voice;
}

/// The core's answer to an utterance.
struct Said {
  mote_status status = MOTE_OK;
  mote_error error = {};
};

/// Says an utterance that has begun, to its end.
Status say(const Session& session, const mote_voice_info& voice, mote_utterance* begun, const Hooks& hooks,
           Said& said, const OnSamples& on_samples) {
  std::vector<float> piece(size_t{voice.piece} * voice.hop);
  return in_steps(hooks, [&](uint32_t operations, int& done) {
    size_t count = 0;
    said.status = mote_speak_step(session.get(), begun, operations, piece.data(), piece.size(), &count, &done,
                                  &said.error);
    if (said.status != MOTE_OK) done = 1;
    if (count != 0) on_samples(std::span<const float>(piece).first(count));
    return Status();
  });
}

}  // namespace

Result<Utterance> utter(const Model& model, const mote_session_options& given, std::span<const int32_t> ids,
                        const mote_speak_options& options, const Hooks& hooks, std::string_view what,
                        const OnSamples& on_samples) {
  const mote_voice_info voice = voice_of(model);
  mote_session_options of_session = given;
  const auto count = static_cast<uint32_t>(ids.size());
  of_session.batch = 1;
  of_session.context = std::clamp(count, 1u, model.info().context);
  for (uint32_t frames = std::max(kLeastFrames, kFramesOfToken * count);; frames *= 2) {
    of_session.chunk = of_session.logit_rows = std::min(frames, kMostFrames);
    MOTE_TAKE(const Session session, Session::begin(model, of_session));
    std::vector<uint64_t> memory(mote_speak_bytes(session.get()) / sizeof(uint64_t) + 1);
    mote_utterance* begun = nullptr;
    Said said;
    said.status = mote_speak_start(session.get(), ids.data(), count, &options, memory.data(),
                                   memory.size() * sizeof(uint64_t), &begun, &said.error);
    if (said.status == MOTE_OK) MOTE_TRY(say(session, voice, begun, hooks, said, on_samples));
    if (said.status == MOTE_CONTEXT_FULL && frames < kMostFrames && count <= of_session.context) continue;
    MOTE_TRY(from_core(said.status, said.error, what));
    Utterance utterance;
    utterance.latent_width = voice.latents;
    const uint32_t* durations = mote_utterance_durations(begun);
    utterance.durations.assign(durations, durations + count);
    const float* latents = mote_utterance_latents(begun);
    utterance.latents.assign(latents, latents + size_t{mote_utterance_frames(begun)} * voice.latents);
    return utterance;
  }
}

Result<std::vector<std::vector<int32_t>>> lines_to_say(const Model& model, const SessionChoices& choices,
                                                       std::string_view text) {
  MOTE_TRY(require_tokenizer(model, Remedy::give_ids));
  mote_session_options small = session_options(model, choices);
  small.context = small.chunk = small.logit_rows = 1;
  MOTE_TAKE(const Session session, Session::begin(model, small));
  std::vector<std::vector<int32_t>> all;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    MOTE_TAKE(std::vector<int32_t> ids,
              tokenize(model, session, text.substr(at, end - at), MOTE_ADD_SPECIAL));
    if (!ids.empty()) all.push_back(std::move(ids));
    at = end + 1;
  }
  return all;
}

Status speak(const Model& model, const SessionChoices& choices,
             std::span<const std::vector<int32_t>> utterances, const SpeakOptions& options,
             const Hooks& hooks, const OnSamples& on_samples) {
  const mote_voice_info voice = voice_of(model);
  if (model.task() != MOTE_TASK_SPEAK) return failed("{} does not speak", model.name());
  if (utterances.empty()) return failed("the text has nothing that the model can say");
  mote_speak_options speaking = mote_speak_options_default(model.get());
  speaking.seed = options.seed;
  if (options.speed != 0.0f) speaking.speed *= options.speed;
  const std::vector<float> pause(static_cast<size_t>(kPause * voice.rate));
  bool said = false;
  const auto give = [&](std::span<const float> samples) {
    said = true;
    on_samples(samples);
  };
  for (const std::vector<int32_t>& ids : utterances) {
    if (said) on_samples(pause);
    MOTE_TRY(utter(model, session_options(model, choices), ids, speaking, hooks, "speak", give).status());
  }
  return {};
}

}  // namespace mote::host
