// SPDX-License-Identifier: Apache-2.0
#include "host/tasks/sound/speaker.h"

#include <algorithm>
#include <charconv>
#include <deque>
#include <string>
#include <utility>

#include "host/tasks/bounded_steps.h"
#include "host/tasks/sentence.h"

namespace mote::host {
namespace {

constexpr uint32_t kLeastFrames = 128, kMostFrames = 1u << 16;
constexpr uint32_t kFramesOfToken = 4;  // that there is room for at first
constexpr double kPause = 0.3;          // seconds between utterances
constexpr uint32_t kSpeakersToName = 10;

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

Result<uint32_t> find_speaker(const Model& model, std::string_view speaker) {
  const uint32_t speakers = voice_of(model).speakers;
  uint32_t number = 0;
  const auto read = std::from_chars(speaker.data(), speaker.data() + speaker.size(), number);
  if (read.ec == std::errc() && read.ptr == speaker.data() + speaker.size() && number < speakers)
    return number;
  std::string names;
  for (uint32_t i = 0; i < speakers; ++i) {
    const char* const name = mote_model_speaker(model.get(), i);
    if (name == nullptr) break;
    if (name == speaker) return i;
    if (i == kSpeakersToName) names += ", ...";
    if (i < kSpeakersToName) names += sentence("{}{}", i == 0 ? "" : ", ", name);
  }
  if (speakers == 1) return failed("{} has no speaker '{}'; there is one, 0", model.name(), speaker);
  return failed("{} has no speaker '{}'; there are 0 to {}{}{}", model.name(), speaker, speakers - 1,
                names.empty() ? "" : ": ", names);
}

Result<SpokenLines> fitting_lines(const Model& model, SpokenLines lines, uint64_t most,
                                  std::string_view name) {
  constexpr uint64_t kSecondsOfMinute = 60;
  const mote_voice_info voice = voice_of(model);
  std::deque<std::vector<int32_t>> all;
  uint64_t samples = 0;
  for (;;) {
    MOTE_TAKE(std::optional<std::vector<int32_t>> ids, lines.next());
    if (!ids) break;
    samples += ids->size() * uint64_t{voice.hop};
    all.push_back(*std::move(ids));
  }
  const auto minutes = [&](uint64_t count) { return count / voice.rate / kSecondsOfMinute; };
  if (samples > most)
    return failed(
        "{}: the text is too long for one file: it takes {} minutes at least, and there is room for {}; "
        "speak "
        "it in parts",
        name, minutes(samples), minutes(most));
  return SpokenLines(std::move(all));
}

Status speak(const Model& model, const SessionChoices& choices, SpokenLines lines,
             const SpeakOptions& options, const Hooks& hooks, const OnSamples& on_samples) {
  const mote_voice_info voice = voice_of(model);
  if (model.task() != MOTE_TASK_SPEAK) return failed("{} does not speak", model.name());
  mote_speak_options speaking = mote_speak_options_default(model.get());
  speaking.seed = options.seed;
  speaking.speaker = options.speaker.value_or(speaking.speaker);
  if (options.speed != 0.0f) speaking.speed *= options.speed;
  speaking.noise = options.noise.value_or(speaking.noise);
  speaking.duration_noise = options.duration_noise.value_or(speaking.duration_noise);
  const std::vector<float> pause(static_cast<size_t>(kPause * voice.rate));
  bool said = false;
  const auto give = [&](std::span<const float> samples) {
    said = true;
    on_samples(samples);
  };
  for (;;) {
    MOTE_TAKE(const std::optional<std::vector<int32_t>> ids, lines.next());
    if (!ids) break;
    if (said) on_samples(pause);
    MOTE_TRY(utter(model, session_options(model, choices), *ids, speaking, hooks, "speak", give).status());
  }
  return said ? Status() : failed("the text has nothing that the model can say");
}

}  // namespace mote::host
