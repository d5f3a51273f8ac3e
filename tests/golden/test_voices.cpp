// SPDX-License-Identifier: Apache-2.0
//
// Models of tests/golden/models that speak: durations, latents and samples as the original implementation has
// them, without noise and with given noise.
#include <cmath>
#include <tuple>

#include "mote/voice.h"
#include "runtime/file/voice.h"
#include "tests/golden/golden_runs.h"
#include "tests/support/relative_error.h"

namespace {

using mote::convert::SafetensorsFile;

constexpr uint32_t kMostFrames = 128;

const char* const kVoice = "vits";

SafetensorsFile stored() { return SafetensorsFile(test::golden_folder() / kVoice / "golden.safetensors"); }

struct Spoken {
  std::vector<int64_t> durations;
  std::vector<float> spectrogram;  // [latents, frames]
  std::vector<float> waveform;
  test::TracedRows hidden;
};

mote_session_options options_of(const test::OpenModel& model, mote_isa isa) {
  mote_session_options options = mote_session_options_default(model.get());
  options.isa = isa;
  options.context = 32;
  options.chunk = options.logit_rows = kMostFrames;
  return options;
}

Spoken say(const test::OpenModel& model, mote_isa isa, const SafetensorsFile& golden,
           const std::string& prefix) {
  Spoken spoken;
  mote_session_options options = options_of(model, isa);
  spoken.hidden.trace(options);
  const test::OpenSession session(model, options);
  mote_voice_info voice;
  mote_model_get_voice(model.get(), &voice);
  mote_speak_options speaking = mote_speak_options_default(model.get());
  std::vector<float> token_noise, frame_noise;
  if (prefix.empty()) {
    speaking.noise = speaking.duration_noise = 0.0f;
  } else {
    token_noise = golden.f32(prefix + "noise_duration");
    frame_noise = golden.f32(prefix + "noise_prior");
    speaking.token_noise = token_noise.data();
    speaking.frame_noise = frame_noise.data();
    speaking.noise_frames = static_cast<uint32_t>(frame_noise.size() / voice.latents);
  }
  const std::vector<int64_t> stored_ids = golden.i64("input_ids");
  const std::vector<int32_t> ids(stored_ids.begin(), stored_ids.end());
  const test::AlignedBytes memory(mote_speak_bytes(session.get()));
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

void expect_spoken_near(const SafetensorsFile& golden, const std::string& name,
                        const std::vector<float>& found) {
  CAPTURE(name);
  const std::vector<float> expected = golden.f32(name);
  TEST_ASSERT_EQUAL_UINT32(expected.size(), found.size());
  TEST_ASSERT_FLOAT_ARRAY_WITHIN(test::golden_tolerance(kVoice), expected.data(), found.data(), found.size());
}

/// Outputs of a program for rows of floats, one behind the other.
std::vector<float> run_program(const test::OpenModel& model, uint32_t program,
                               const std::vector<float>& values) {
  const test::OpenSession session(model, options_of(model, MOTE_ISA_AUTO));
  mote_program_info info;
  mote_model_get_program(model.get(), program, &info);
  const std::vector<mote_row> rows(values.size() / info.input_width, {0, 0, 0, 1});
  mote_rows call{};
  call.rows = rows.data();
  call.count = static_cast<uint32_t>(rows.size());
  call.program = program;
  call.values = values.data();
  mote_error error{};
  const mote_status status = mote_compute(session.get(), &call, &error);
  INFO(error.text);
  REQUIRE(status == MOTE_OK);
  std::vector<float> outputs;
  for (uint32_t row = 0; const float* output = mote_session_output(session.get(), row); ++row)
    outputs.insert(outputs.end(), output, output + info.output_width);
  return outputs;
}

}  // namespace

TEST("a voice says the stored samples, without noise and with the stored noise") {
  const SafetensorsFile golden = stored();
  const test::OpenModel model(test::golden_file(kVoice, "f32"));
  for (const mote_isa isa : test::all_families()) {
    CAPTURE(mote_isa_name(isa));
    for (const std::string prefix : {"", "noisy."}) {
      CAPTURE(prefix);
      const Spoken spoken = say(model, isa, golden, prefix);
      REQUIRE(spoken.durations == golden.i64(prefix + "durations"));
      expect_spoken_near(golden, prefix + "spectrogram", spoken.spectrogram);
      expect_spoken_near(golden, prefix + "waveform", spoken.waveform);
      for (const char* name : {"hidden.0", "hidden.1", "hidden.2"})
        expect_spoken_near(golden, name, spoken.hidden.values.at(name));
    }
  }
}

TEST("programs of a voice in 16 and 8 bits stay near those in 32") {
  // Rounding to 127 steps of the largest number, some 2.5 deviations, is off by 2.5 / (127 sqrt 12) of a
  // deviation. A linear in 8 bits has weights and activations rounded so, one in 16 weights by 2^-12 at most.
  // Behind a leaky rectifier, which leaves half the numbers, the root of the mean square is a deviation /
  // sqrt 2. Errors of linears add by their squares. Those of the longest way: of a layer of the encoder 4, of
  // a flow 2 and 2 of each layer of its WaveNet, of samples the first, 2 finer and 4 of a block each, all but
  // the first behind such a rectifier; the rest is in 32 bits.
  const double of_numbers = 2.5 / (127 * std::sqrt(12.0)), of_linear = std::sqrt(2.0) * of_numbers,
               of_rectified = std::sqrt(3.0) * of_numbers, of_halves = 0x1p-12;
  const SafetensorsFile golden = stored();
  const test::OpenModel exact(test::golden_file(kVoice, "f32"));
  mote_voice_info voice;
  mote_model_get_voice(exact.get(), &voice);
  const std::vector<float> columns = golden.f32("noisy.spectrogram");
  std::vector<float> latents;
  const size_t frames = columns.size() / voice.latents;
  for (size_t t = 0; t < frames; ++t)
    for (size_t c = 0; c < voice.latents; ++c) latents.push_back(columns[c * frames + t]);
  for (const auto& [type, of_one, of_samples] :
       {std::tuple("f16", of_halves, of_halves), std::tuple("q8", of_linear, of_rectified)}) {
    CAPTURE(type);
    const test::OpenModel model(test::golden_file(kVoice, type));
    for (const auto& [program, bound] : {std::pair(mote::kFlowProgram, of_one * std::sqrt(12.0)),
                                         std::pair(mote::kSampleProgram, of_samples * std::sqrt(11.0))}) {
      CAPTURE(program);
      TEST_ASSERT_LESS_THAN(bound, test::relative_error(run_program(exact, program, latents),
                                                        run_program(model, program, latents)));
    }
    const Spoken spoken = say(model, MOTE_ISA_AUTO, golden, "");
    TEST_ASSERT_LESS_THAN(of_one * std::sqrt(8.0),
                          test::relative_error(golden.f32("hidden.2"), spoken.hidden.values.at("hidden.2")));
  }
}
