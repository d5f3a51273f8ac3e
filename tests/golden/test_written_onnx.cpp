// SPDX-License-Identifier: Apache-2.0
//
// Every model of tests/written/onnx_*, which torch.onnx and onnxruntime's quantizers wrote, to what
// onnxruntime computes.
#include <fstream>
#include <nlohmann/json.hpp>

#include "converter/convert.h"
#include "host/base/error.h"
#include "tests/golden/golden_runs.h"
#include "tests/support/files.h"
#include "tests/support/written.h"

namespace {

namespace fs = std::filesystem;

test::AlignedBytes onnx_model(const std::string& name) {
  mote::convert::ConvertOptions options;
  options.type = "f32";
  return test::kept_conversion("written_" + name, test::written_folder() / name, options);
}

/// The error of a model without its config.json in the folder, of the file alone.
std::string error_without_config(const fs::path& folder, const std::string& file) {
  const mote::testing::TempDirectory directory;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".onnx") fs::copy_file(entry.path(), directory / entry.path().filename());
  }
  mote::convert::ConvertOptions options;
  options.type = "f32";
  return mote::testing::message_of<mote::convert::Error>(
      [&] { mote::convert::convert(directory / file, directory / "out.mote", options); });
}

}  // namespace

TEST(
    "written: each ONNX file of a wrapped, pooling, labelling or quantized BERT gives what onnxruntime "
    "computes") {
  const std::vector<std::string> names = test::written_names("onnx_");
  TEST_ASSERT_GREATER_OR_EQUAL(9, names.size());
  for (const std::string& name : names) {
    CAPTURE(name);
    test::check_written(name, onnx_model(name));
  }
}

TEST("written: a graph without config.json that is no bare BERT names what it does not say") {
  const fs::path models = test::golden_folder();
  const std::string of_other = error_without_config(models / "gpt2_onnx", "model.onnx");
  CAPTURE(of_other);
  CHECK(of_other.find("has no config.json beside it") != std::string::npos);
  CHECK(of_other.find("Put the config.json") != std::string::npos);
  const std::string of_pair = error_without_config(models / "whisper_onnx", "encoder_model.onnx");
  CAPTURE(of_pair);
  CHECK(of_pair.find("is one of an encoder and its decoder") != std::string::npos);
}

TEST("written: a graph that makes vectors in another way than by its mean and its length is refused") {
  const mote::testing::TempDirectory directory;
  const fs::path from = test::written_folder() / "onnx_sentence_mean";
  fs::copy_file(from / "config.json", directory / "config.json");
  std::string graph = mote::testing::read_text(from / "model.onnx");
  const auto bytes_of = [](float value) {
    return std::string(reinterpret_cast<const char*>(&value), sizeof value);
  };
  size_t changed = 0;
  for (size_t at = graph.find(bytes_of(1e-12f)); at != std::string::npos; at = graph.find(bytes_of(1e-12f))) {
    graph.replace(at, sizeof(float), bytes_of(0.5f));  // the least length
    ++changed;
  }
  REQUIRE(changed == 1);
  mote::testing::write_text(directory / "model.onnx", graph);
  mote::convert::ConvertOptions options;
  options.type = "f32";
  const std::string error = mote::testing::message_of<mote::convert::Error>(
      [&] { mote::convert::convert(directory.path(), directory / "out.mote", options); });
  CAPTURE(error);
  CHECK(error.find("made in another way than by the mean or the first row") != std::string::npos);
}
