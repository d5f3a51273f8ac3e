// SPDX-License-Identifier: Apache-2.0
//
// Encoder-decoders in tests/written: torch.nn.Transformer as PyTorch saves it, between an embedding and a
// head of one's own, and T5 as two graphs of ONNX.
#include <fstream>
#include <nlohmann/json.hpp>

#include "converter/convert.h"
#include "host/base/error.h"
#include "tests/golden/golden_runs.h"
#include "tests/support/files.h"
#include "tests/support/written.h"

namespace {

namespace fs = std::filesystem;

test::AlignedBytes written_pair(const std::string& name) {
  mote::convert::ConvertOptions options;
  options.type = "f32";
  return test::kept_conversion("written_" + name, test::written_folder() / name, options);
}

std::vector<int32_t> ids_of(const mote::convert::SafetensorsFile& golden, const char* name) {
  const std::vector<int64_t> ids = golden.i64(name);
  return {ids.begin(), ids.end()};
}

/// The logits over the target that a model makes of the source.
std::vector<float> logits_of(const test::OpenModel& model, const std::vector<int32_t>& source,
                             const std::vector<int32_t>& target) {
  const auto count = static_cast<uint32_t>(target.size());
  mote_session_options options = mote_session_options_default(model.get());
  options.context = 16;
  options.chunk = options.logit_rows = 16;
  const test::OpenSession session(model, options);
  std::vector<mote_row> rows;
  for (const int32_t id : source) rows.push_back({0, id, 0, 1});
  mote_rows call{};
  call.rows = rows.data();
  call.count = static_cast<uint32_t>(rows.size());
  call.program = 1;
  mote_error error{};
  REQUIRE(mote_compute(session.get(), &call, &error) == MOTE_OK);
  REQUIRE(mote_prefill(session.get(), 0, target.data(), count, MOTE_LOGITS_ALL, &error) == MOTE_OK);
  std::vector<float> logits;
  for (uint32_t i = 0; i < count; ++i) {
    const float* row = mote_session_logits(session.get(), i);
    logits.insert(logits.end(), row, row + model.info().vocab);
  }
  return logits;
}

/// Fails unless the model's logits are those that are stored, to 2e-6 of the largest.
void check_logits(const std::string& name) {
  CAPTURE(name);
  const test::AlignedBytes file = written_pair(name);
  const test::OpenModel model(file);
  const mote::convert::SafetensorsFile golden(test::written_folder() / name / "golden.safetensors");
  const std::vector<float> expected = golden.f32("logits");
  const std::vector<float> actual =
      logits_of(model, ids_of(golden, "input_ids"), ids_of(golden, "decoder_input_ids"));
  test::check_near(expected, actual, 2e-6f);
}

}  // namespace

TEST(
    "written: torch.nn.Transformer with final norms, its own head, stored sines and embeddings of one side "
    "gives PyTorch's logits") {
  const std::vector<std::string> names = test::written_names("torch_");
  TEST_ASSERT_GREATER_OR_EQUAL(4, names.size());
  for (const std::string& name : names) check_logits(name);
}

TEST(
    "written: two matrices that may both be the embedding of torch.nn.Transformer are told apart by the "
    "config") {
  const mote::testing::TempDirectory directory;
  const fs::path from = test::written_folder() / "torch_norm_first";
  fs::copy_file(from / "pytorch_model.bin", directory / "pytorch_model.bin");
  nlohmann::json config = nlohmann::json::parse(std::ifstream(from / "config.json"));
  config.erase("embedding");
  std::ofstream(directory / "config.json") << config.dump();
  mote::convert::ConvertOptions options;
  options.type = "f32";
  const std::string error = mote::testing::message_of<mote::convert::Error>(
      [&] { mote::convert::convert(directory.path(), directory / "out.mote", options); });
  CAPTURE(error);
  CHECK(error.find("embed.characters and project may both be the embedding") != std::string::npos);
}

TEST("written: a T5 in two ONNX files gives onnxruntime's logits") {
  const std::vector<std::string> names = test::written_names("t5_onnx_");
  TEST_ASSERT_GREATER_OR_EQUAL(2, names.size());
  for (const std::string& name : names) check_logits(name);
}

TEST("written: a T5 in two ONNX files whose biases by distance are not the config's is refused") {
  const mote::testing::TempDirectory directory;
  const fs::path from = test::written_folder() / "t5_onnx_gated";
  for (const char* side : {"encoder_model.onnx", "decoder_model.onnx"})
    fs::copy_file(from / side, directory / side);
  nlohmann::json config = nlohmann::json::parse(std::ifstream(from / "config.json"));
  config["relative_attention_max_distance"] = 12;
  std::ofstream(directory / "config.json") << config.dump();
  mote::convert::ConvertOptions options;
  options.type = "f32";
  const std::string error = mote::testing::message_of<mote::convert::Error>(
      [&] { mote::convert::convert(directory.path(), directory / "out.mote", options); });
  CAPTURE(error);
  CHECK(error.find("the mask changes the score of row") != std::string::npos);
}

TEST("written: T5's two graphs are found as encoder.onnx and decoder.onnx, whichever is named") {
  const fs::path from = test::written_folder() / "t5_onnx_tied";
  const mote::testing::TempDirectory directory;
  fs::copy_file(from / "config.json", directory / "config.json");
  for (const char* side : {"encoder", "decoder"})
    fs::copy_file(from / (std::string(side) + "_model.onnx"), directory / (std::string(side) + ".onnx"));
  mote::convert::ConvertOptions options;
  options.type = "f32";
  const mote::convert::SafetensorsFile golden(from / "golden.safetensors");
  for (const char* given : {"", "encoder.onnx", "decoder.onnx"}) {
    CAPTURE(given);
    mote::convert::convert(*given == 0 ? directory.path() : directory / given, directory / "out.mote",
                           options);
    const test::AlignedBytes file = test::read_file(directory / "out.mote");
    const std::vector<float> logits =
        logits_of(test::OpenModel(file), ids_of(golden, "input_ids"), ids_of(golden, "decoder_input_ids"));
    test::check_near(golden.f32("logits"), logits, 2e-6f);
  }
}

TEST("convert: torch.nn.Transformer whose source has another vocabulary is refused by both sizes") {
  const mote::testing::TempDirectory directory;
  const fs::path from = test::written_folder() / "torch_two_embeddings";
  fs::copy_file(from / "pytorch_model.bin", directory / "pytorch_model.bin");
  nlohmann::json config = nlohmann::json::parse(std::ifstream(from / "config.json"));
  config["vocab_size"] = 41;
  std::ofstream(directory / "config.json") << config.dump();
  const std::string error = mote::testing::message_of<mote::convert::Error>(
      [&] { mote::convert::convert(directory.path(), directory / "out.mote", {}); });
  CAPTURE(error);
  CHECK(error.find("src_tok_emb.characters.weight has 40 rows for a vocabulary of 41") != std::string::npos);
}
