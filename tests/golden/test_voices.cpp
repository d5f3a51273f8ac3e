// SPDX-License-Identifier: Apache-2.0
//
// Models of tests/golden/models that speak: durations, latents and samples as the original implementation has
// them, without noise and with given noise.
#include <cmath>
#include <tuple>

#include "runtime/file/voice.h"
#include "tests/golden/spoken.h"
#include "tests/support/relative_error.h"

namespace {

using mote::convert::SafetensorsFile;

const char* const kVoice = "vits";

SafetensorsFile stored() { return SafetensorsFile(test::golden_folder() / kVoice / "golden.safetensors"); }

void expect_voice_near(const SafetensorsFile& golden, const std::string& name,
                       const std::vector<float>& found) {
  test::expect_spoken_near(golden, name, found, test::golden_tolerance(kVoice));
}

/// Outputs of a program for rows of floats, one behind the other.
std::vector<float> run_program(const test::OpenModel& model, uint32_t program,
                               const std::vector<float>& values) {
  const test::OpenSession session(model, test::spoken_options(model, MOTE_ISA_AUTO));
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
      const test::Spoken spoken = test::say(model, isa, golden, prefix);
      REQUIRE(spoken.durations == golden.i64(prefix + "durations"));
      expect_voice_near(golden, prefix + "spectrogram", spoken.spectrogram);
      expect_voice_near(golden, prefix + "waveform", spoken.waveform);
      for (const char* name : {"hidden.0", "hidden.1", "hidden.2"})
        expect_voice_near(golden, name, spoken.hidden.values.at(name));
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
    const test::Spoken spoken = test::say(model, MOTE_ISA_AUTO, golden, "");
    TEST_ASSERT_LESS_THAN(of_one * std::sqrt(8.0),
                          test::relative_error(golden.f32("hidden.2"), spoken.hidden.values.at("hidden.2")));
  }
}
