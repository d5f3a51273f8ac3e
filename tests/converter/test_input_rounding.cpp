// SPDX-License-Identifier: Apache-2.0
//
// Scales that checkpoints have of the inputs of their matrices.
#include "converter/layers/transformer_builder.h"
#include "converter/readers/readers.h"
#include "converter/readers/safetensors.h"
#include "converter/tensor_set.h"
#include "host/base/error.h"
#include "tests/support/files.h"
#include "tests/support/unity_style.h"

using namespace mote;
using namespace mote::convert;
using namespace mote::testing;

namespace {

/// A checkpoint of a matrix [1, 32] of bytes.
class Bytes {
 public:
  template <class Number>
  void add(const std::string& name, const char* dtype, uint64_t count, Number value) {
    const std::vector<Number> values(count, value);
    const auto view = std::as_bytes(std::span(values));
    bytes_[name].assign(view.begin(), view.end());
    tensors_[name] = {dtype, {count}, bytes_[name]};
    if (name == "a.weight") tensors_[name].shape = {1, count};
  }
  void drop(const std::string& name) { tensors_.erase(name); }
  Bytes() {
    add("a.weight", "I8", 32, int8_t{1});
    add("a.weight_scale", "F32", 1, 1.0f);
  }
  Source read(const std::string& activations) const {
    write_text(directory_ / "config.json",
               R"({"model_type": "llama", "quantization_config": {"quant_method": "compressed-tensors",
                   "format": "int-quantized", "config_groups": {"group_0": {"input_activations": )" +
                   activations + R"(, "weights": {"num_bits": 8, "type": "int", "strategy": "channel"}}}}})");
    write_safetensors(directory_ / "model.safetensors", tensors_);
    return read_hf_directory(directory_.path());
  }

 private:
  TempDirectory directory_;
  std::map<std::string, std::vector<std::byte>> bytes_;
  NamedTensors tensors_;
};

const char kFixed[] = R"({"num_bits": 8, "type": "int", "dynamic": false, "symmetric": false})";

SourceTensor matrix_with(std::optional<InputRounding> rounding) {
  static const std::vector<float> kValues(32);
  SourceTensor tensor{SourceType::f32, {1, 32}, reinterpret_cast<const std::byte*>(kValues.data()), 128};
  tensor.input_rounding = rounding;
  return tensor;
}

const InputRounding kSome{Rounding::e4m3, 0.5f, -448.0f, 448.0f};

}  // namespace

TEST("packed: scales that a file has of inputs are kept, and refused where they are none") {
  Bytes file;
  const auto refused = [&](const std::string& activations, const std::string& text) {
    const std::string message = message_of<Error>([&] { file.read(activations); });
    CAPTURE(message);
    TEST_ASSERT_TRUE(message.find(text) != std::string::npos);
  };
  refused(kFixed, "tensor a.input_scale is missing");
  for (const float none : {0.0f, -1.0f}) {
    file.add("a.input_scale", "F32", 1, none);
    refused(kFixed, "which is no scale");
  }
  file.add("a.input_scale", "F32", 1, 0.25f);
  refused(R"({"num_bits": 8, "dynamic": false, "strategy": "group", "group_size": 32})",
          "quantization_config.input_activations.strategy");
  refused(R"({"num_bits": 8, "dynamic": true, "symmetric": false})", "input_activations.symmetric");
  refused(R"({"num_bits": 4, "dynamic": false})", "input_activations.num_bits");
  file.add("a.input_zero_point", "I8", 2, int8_t{3});
  refused(kFixed, "a.input_zero_point");
  file.add("a.input_zero_point", "I8", 1, int8_t{-3});
  const Source source = file.read(kFixed);
  const InputRounding expected{Rounding::integer, 0.25f, -125.0f, 130.0f};
  TEST_ASSERT_TRUE(source.tensors.at("a.weight").input_rounding == expected);
  TEST_ASSERT_EQUAL_UINT64(0, source.tensors.count("a.input_scale"));
}

TEST("convert: parts of one matrix whose inputs are rounded by different scales are refused by name") {
  InputRounding more = kSome;
  more.unit = 0.25f;
  const SourceTensor one = matrix_with(kSome), other = matrix_with(more), plain = matrix_with(std::nullopt);
  const WeightPart first{"first", &one, false, 1}, padding{"", nullptr, false, 1};
  TEST_ASSERT_TRUE(rounding_of(std::vector<WeightPart>{first, padding, first}) == kSome);
  for (const SourceTensor* second : {&other, &plain}) {
    const std::vector<WeightPart> parts = {first, padding, {"second", second, false, 1}};
    const std::string message = message_of<Error>([&] { rounding_of(parts); });
    TEST_ASSERT_TRUE(message.find("first and second") != std::string::npos);
  }
}

TEST("convert: a matrix whose input has a scale is refused where an architecture does not round it") {
  Source source;
  source.tensors["a.weight"] = matrix_with(kSome);
  TensorSet tensors(source);
  tensors.matrix("a.weight", 1, 32, false);
  const std::string message = message_of<Error>([&] { tensors.finish({}); });
  TEST_ASSERT_TRUE(message.find("tensor a.weight has a scale that its input is rounded by") !=
                   std::string::npos);
  tensors.note_rounded_input("a.weight");
  tensors.finish({});
}
