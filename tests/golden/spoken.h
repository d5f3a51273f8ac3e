// SPDX-License-Identifier: Apache-2.0
//
// What a voice says of ids, beside stored durations, latents and samples.
#pragma once

#include <string>
#include <vector>

#include "mote/voice.h"
#include "tests/golden/golden_runs.h"

namespace test {

using mote::convert::SafetensorsFile;

constexpr uint32_t kMostFrames = 512;

struct Spoken {
  std::vector<int64_t> durations;
  std::vector<float> spectrogram;  // [latents, frames]
  std::vector<float> waveform;
  TracedRows hidden;
};

inline mote_session_options spoken_options(const OpenModel& model, mote_isa isa) {
  mote_session_options options = mote_session_options_default(model.get());
  options.isa = isa;
  options.context = 32;
  options.chunk = options.logit_rows = kMostFrames;
  return options;
}

/// Says ids in a session of its own.
inline Spoken say(const OpenModel& model, mote_session_options options, const mote_speak_options& speaking,
                  const std::vector<int32_t>& ids) {
  Spoken spoken;
  spoken.hidden.trace(options);
  const OpenSession session(model, options);
  mote_voice_info voice;
  mote_model_get_voice(model.get(), &voice);
  const AlignedBytes memory(mote_speak_bytes(session.get()));
  mote_utterance* utterance = nullptr;
  mote_error error{};
  mote_status status = mote_speak_begin(session.get(), ids.data(), static_cast<uint32_t>(ids.size()),
                                        &speaking, memory.data(), memory.size(), &utterance, &error);
  INFO(error.text);
  REQUIRE(status == MOTE_OK);
  const uint32_t* durations = mote_utterance_durations(utterance);
  spoken.durations.assign(durations, durations + ids.size());
  const uint32_t frames = mote_utterance_frames(utterance);
  const float* latents = mote_utterance_latents(utterance);
  for (uint32_t c = 0; c < voice.latents; ++c)
    for (uint32_t t = 0; t < frames; ++t) spoken.spectrogram.push_back(latents[t * voice.latents + c]);
  std::vector<float> piece(size_t{voice.piece} * voice.hop);
  for (size_t count = 1; count != 0;) {
    status = mote_speak_next(session.get(), utterance, piece.data(), piece.size(), &count, &error);
    REQUIRE(status == MOTE_OK);
    spoken.waveform.insert(spoken.waveform.end(), piece.begin(),
                           piece.begin() + static_cast<ptrdiff_t>(count));
  }
  return spoken;
}

/// Returns the model's options without noise.
inline mote_speak_options without_noise(const OpenModel& model) {
  mote_speak_options speaking = mote_speak_options_default(model.get());
  speaking.noise = speaking.duration_noise = 0.0f;
  return speaking;
}

/// Says the ids of a file: without noise where the prefix is empty, else with the noise that it names.
inline Spoken say(const OpenModel& model, mote_isa isa, const SafetensorsFile& golden,
                  const std::string& prefix) {
  mote_speak_options speaking =
      prefix.empty() ? without_noise(model) : mote_speak_options_default(model.get());
  std::vector<float> token_noise, frame_noise;
  if (!prefix.empty()) {
    mote_voice_info voice;
    mote_model_get_voice(model.get(), &voice);
    token_noise = golden.f32(prefix + "noise_duration");
    frame_noise = golden.f32(prefix + "noise_prior");
    speaking.token_noise = token_noise.data();
    speaking.frame_noise = frame_noise.data();
    speaking.noise_frames = static_cast<uint32_t>(frame_noise.size() / voice.latents);
  }
  if (golden.has(prefix + "speaker_id"))
    speaking.speaker = static_cast<uint32_t>(golden.i64(prefix + "speaker_id")[0]);
  const std::vector<int64_t> stored_ids = golden.i64("input_ids");
  return say(model, spoken_options(model, isa), speaking, {stored_ids.begin(), stored_ids.end()});
}

inline void expect_spoken_near(const SafetensorsFile& golden, const std::string& name,
                               const std::vector<float>& found, double tolerance) {
  CAPTURE(name);
  const std::vector<float> expected = golden.f32(name);
  TEST_ASSERT_EQUAL_UINT32(expected.size(), found.size());
  TEST_ASSERT_FLOAT_ARRAY_WITHIN(tolerance, expected.data(), found.data(), found.size());
}

}  // namespace test
