// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <unistd.h>
#include <nlohmann/json.hpp>

#include "converter/readers/readers.h"
#include "converter/readers/safetensors.h"
#include "host/base/error.h"
#include "tests/support/files.h"
#include "tests/support/unity_style.h"

using namespace mote::convert;
using namespace mote::testing;

namespace {

const std::vector<float> kValues{1, 2, 3, 4, 5, 6};
const std::vector<int64_t> kIds{7};

std::string error_of(const TempDirectory& directory) {
  return message_of<Error>([&] { read_hf_directory(directory.path()); });
}

void write_model(const TempDirectory& directory, const std::string& config) {
  write_text(directory / "config.json", config);
  write_safetensors(directory / "model.safetensors",
                    {{"w", f32_tensor({2, 3}, kValues)}, {"ids", i64_tensor({1}, kIds)}});
}

}  // namespace

TEST("hf: config, tensors by their names, integers left out") {
  const TempDirectory directory;
  write_model(directory, R"({"model_type": "llama", "eos_token_id": 5})");
  const Source source = read_source(directory.path() / "");  // with a slash at the end
  TEST_ASSERT_EQUAL_STRING("hf", source.format);
  TEST_ASSERT_EQUAL_STRING("llama", source.config->at("model_type").get<std::string>());
  TEST_ASSERT_EQUAL_UINT64(1, source.tensors.size());
  const SourceTensor& tensor = source.tensors.at("w");
  std::vector<float> row(3);
  read_row(tensor, 1, row);
  TEST_ASSERT_TRUE(row == std::vector<float>({4, 5, 6}));
  TEST_ASSERT_TRUE(source.stop_ids == std::vector<int32_t>{5});
}

TEST("hf: generation_config's stop ids win, a number or a list") {
  const TempDirectory directory;
  write_model(directory, R"({"eos_token_id": 5})");
  write_text(directory / "generation_config.json", R"({"eos_token_id": 6})");
  TEST_ASSERT_TRUE(read_hf_directory(directory.path()).stop_ids == std::vector<int32_t>{6});
  write_text(directory / "generation_config.json", R"({"eos_token_id": [6, 9]})");
  TEST_ASSERT_TRUE(read_hf_directory(directory.path()).stop_ids == std::vector<int32_t>({6, 9}));
  write_text(directory / "generation_config.json", R"({"eos_token_id": null})");
  TEST_ASSERT_TRUE(read_hf_directory(directory.path()).stop_ids == std::vector<int32_t>{5});
  write_text(directory / "generation_config.json", R"({"eos_token_id": "six"})");
  TEST_ASSERT_TRUE(contains(error_of(directory), "expected a token id or a list of them"));
}

TEST("hf: shards are joined by their index") {
  const TempDirectory directory;
  write_text(directory / "config.json", "{}");
  write_safetensors(directory / "a.safetensors",
                    {{"x", f32_tensor({6}, kValues)}, {"unlisted", f32_tensor({6}, kValues)}});
  write_safetensors(directory / "b.safetensors", {{"y", f32_tensor({3, 2}, kValues)}});
  write_text(directory / "model.safetensors.index.json",
             R"({"weight_map": {"x": "a.safetensors", "y": "b.safetensors"}})");
  const Source source = read_hf_directory(directory.path());
  TEST_ASSERT_EQUAL_UINT64(2, source.tensors.size());
  TEST_ASSERT_EQUAL_UINT64(2, source.files.size());
  TEST_ASSERT_EQUAL_UINT64(3, source.tensors.at("y").rows());

  std::filesystem::remove(directory / "b.safetensors");
  TEST_ASSERT_TRUE(contains(error_of(directory), "b.safetensors is missing"));
  write_safetensors(directory / "b.safetensors", {{"z", f32_tensor({6}, kValues)}});
  TEST_ASSERT_TRUE(contains(error_of(directory), "b.safetensors has no tensor y"));
  write_text(directory / "model.safetensors.index.json", R"({"weight_map": {"x": "../a.safetensors"}})");
  TEST_ASSERT_TRUE(contains(error_of(directory), "tensor x must be in a file of the same directory"));
  write_text(directory / "model.safetensors.index.json", R"({"weight_map": {"x": ".."}})");
  TEST_ASSERT_FALSE(error_of(directory).empty());
  write_text(directory / "model.safetensors.index.json",
             R"({"weight_map": {"x": ")" + std::string(5000, 'a') + "\"}}");
  TEST_ASSERT_FALSE(error_of(directory).empty());
  write_text(directory / "model.safetensors.index.json", "{}");
  TEST_ASSERT_TRUE(contains(error_of(directory), "weight_map is missing, expected an object"));
}

TEST("hf: what a directory lacks is said") {
  const TempDirectory directory;
  TEST_ASSERT_TRUE(contains(error_of(directory), "has no config.json: expected a model directory"));
  write_text(directory / "config.json", "{}");
  TEST_ASSERT_TRUE(contains(error_of(directory), "has no weights"));
  write_text(directory / "pytorch_model.bin", "PK");
  TEST_ASSERT_TRUE(contains(error_of(directory), "pytorch_model.bin: 2 bytes are too few for an archive"));
}

TEST("hf: BitNet's matrices are ternary, four rows in the bits of a row of bytes, times a scale") {
  const TempDirectory directory;
  const auto config = [](const char* linear) {
    return fmt::format(
        R"({{"quantization_config": {{"quant_method": "bitnet", "quantization_mode": "offline", )"
        R"("linear_class": "{}"}}}})",
        linear);
  };
  const std::vector<uint8_t> packed = {0b10'01'00'10, 0b00'00'01'01};
  const std::vector<float> scale = {4.0f};
  const NamedTensors tensors = {{"a.weight", {"U8", {1, 2}, std::as_bytes(std::span(packed))}},
                                {"a.weight_scale", f32_tensor({1}, scale)}};
  const auto row = [](const Source& source, uint64_t index) {
    std::vector<float> values(2);
    read_row(source.tensors.at("a.weight"), index, values);
    return values;
  };
  write_text(directory / "config.json", config("autobitlinear"));
  write_safetensors(directory / "model.safetensors", tensors);
  {
    const Source source = read_hf_directory(directory.path());
    TEST_ASSERT_EQUAL_UINT64(1, source.tensors.size());
    TEST_ASSERT_EQUAL_UINT64(4, source.tensors.at("a.weight").rows());
    TEST_ASSERT_TRUE(row(source, 0) == std::vector<float>({4, 0}));
    TEST_ASSERT_TRUE(row(source, 1) == std::vector<float>({-4, 0}));
    TEST_ASSERT_TRUE(row(source, 2) == std::vector<float>({0, -4}));
    TEST_ASSERT_TRUE(row(source, 3) == std::vector<float>({4, -4}));
  }
  write_text(directory / "config.json", config("bitlinear"));
  TEST_ASSERT_TRUE(row(read_hf_directory(directory.path()), 0) == std::vector<float>({0.25f, 0}));
  write_text(directory / "config.json", config("other"));
  TEST_ASSERT_TRUE(contains(error_of(directory), "quantization_config"));
  write_text(directory / "config.json", config("bitlinear"));
  write_safetensors(directory / "model.safetensors",
                    {{"a.weight", {"U8", {1, 2}, std::as_bytes(std::span(packed))}}});
  TEST_ASSERT_TRUE(contains(error_of(directory), "tensor a.weight_scale is missing"));
}

TEST("hf: bad configs and weights of other types are refused by file") {
  const TempDirectory directory;
  write_model(directory, "{\"model_type\": ");
  TEST_ASSERT_TRUE(contains(error_of(directory), "config.json: not valid JSON"));
  write_model(directory, "[1]");
  TEST_ASSERT_TRUE(contains(error_of(directory), "config.json: expected a JSON object, found array"));
  write_model(directory, "{\"a\": " + std::string(100'000, '[') + "}");
  TEST_ASSERT_TRUE(contains(error_of(directory), "nested deeper"));
  write_model(directory, "");
  TEST_ASSERT_TRUE(contains(error_of(directory), "config.json: not valid JSON"));
  write_model(directory, R"({"quantization_config": {"bits": 4}})");
  TEST_ASSERT_TRUE(contains(error_of(directory), "quantization_config"));
  write_model(directory, "{}");
  const std::vector<double> wide{1.0};
  write_safetensors(directory / "model.safetensors", {{"w", {"F64", {1}, std::as_bytes(std::span(wide))}}});
  TEST_ASSERT_TRUE(contains(error_of(directory), "tensor w is F64"));
}

TEST("hf: weights cut at any byte are an error") {
  const TempDirectory directory;
  write_model(directory, "{}");
  const std::string whole = read_text(directory / "model.safetensors");
  for (size_t size = 0; size < whole.size(); ++size) {
    write_text(directory / "model.safetensors", whole.substr(0, size));
    TEST_ASSERT_FALSE(error_of(directory).empty());
  }
}
