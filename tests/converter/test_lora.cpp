// SPDX-License-Identifier: Apache-2.0
#include "converter/lora.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "converter/convert.h"
#include "converter/readers/readers.h"
#include "converter/readers/safetensors.h"
#include "host/base/error.h"
#include "tests/support/files.h"
#include "tests/support/tiny_llama.h"
#include "tests/support/unity_style.h"

using namespace mote::convert;
using namespace mote::testing;

namespace {

const std::string kModule = "model.layers.0.self_attn.k_proj";  // [16, 32]
const std::string kStem = "base_model.model." + kModule;

std::vector<float> ramp(size_t count, float step) {
  std::vector<float> values;
  for (size_t i = 0; i < count; ++i)
    values.push_back(step * static_cast<float>(static_cast<int>(i * 7 % 11) - 5));
  return values;
}

/// An adapter of rank 2 for one matrix of a TinyLlama, to be changed by each test.
struct Adapter {
  TempDirectory model, folder;
  nlohmann::json config = {{"peft_type", "LORA"},          {"r", 2},         {"lora_alpha", 8},
                           {"target_modules", {"k_proj"}}, {"bias", "none"}, {"lora_dropout", 0.1},
                           {"inference_mode", true}};
  std::map<std::string, TinyLlama::Tensor> tensors = {{kStem + ".lora_A.weight", {{2, 32}, ramp(64, 0.01f)}},
                                                      {kStem + ".lora_B.weight", {{16, 2}, ramp(32, 0.1f)}}};
  TinyLlama llama;
  std::vector<std::string> ignored;

  Adapter() { llama.write(model.path()); }

  Source merged(float strength = 1.0f) const {
    write_text(folder / "adapter_config.json", config.dump());
    NamedTensors named;
    for (const auto& [name, tensor] : tensors) named[name] = f32_tensor(tensor.shape, tensor.values);
    write_safetensors(folder / "adapter_model.safetensors", named);
    Source source = read_source(model.path(), ignored);
    merge_adapter(source, folder.path(), strength);
    return source;
  }
  std::string refusal() const {
    return message_of<Error>([&] { merged(); });
  }
  /// B A of the stored tensors.
  double product(uint64_t row, uint64_t k) const {
    const auto& a = tensors.at(kStem + ".lora_A.weight").values;
    const auto& b = tensors.at(kStem + ".lora_B.weight").values;
    return static_cast<double>(b[row * 2]) * static_cast<double>(a[k]) +
           static_cast<double>(b[row * 2 + 1]) * static_cast<double>(a[32 + k]);
  }
  double weight(uint64_t row, uint64_t k) const {
    return static_cast<double>(llama.tensors.at(kModule + ".weight").values[row * 32 + k]);
  }
};

void check_weight(const Source& source, const Adapter& adapter, double factor) {
  std::vector<float> row(32);
  for (uint64_t r = 0; r < 16; ++r) {
    read_row(source.tensors.at(kModule + ".weight"), r, row);
    for (uint64_t k = 0; k < 32; ++k)
      TEST_ASSERT_FLOAT_WITHIN(
          1e-6f, static_cast<float>(adapter.weight(r, k) + factor * adapter.product(r, k)), row[k]);
  }
}

}  // namespace

TEST("lora: the product is added, times strength and alpha over the rank or its root") {
  Adapter adapter;
  check_weight(adapter.merged(), adapter, 4);
  check_weight(adapter.merged(-0.5f), adapter, -2);
  adapter.config["use_rslora"] = true;
  check_weight(adapter.merged(), adapter, 8 / std::sqrt(2.0));
}

TEST("lora: patterns give a module its own alpha and rank") {
  Adapter adapter;
  adapter.config["alpha_pattern"] = {{"layers.0.self_attn.k_proj", 2}, {"layers.1.self_attn.k_proj", 64}};
  adapter.config["r"] = 16;
  adapter.config["rank_pattern"] = {{"k_proj", 2}};
  check_weight(adapter.merged(), adapter, 1);
  adapter.config["rank_pattern"] = {{"q_proj", 2}};
  TEST_ASSERT_TRUE(contains(adapter.refusal(), "has the rank 2, the config says 16"));
  adapter.config["rank_pattern"] = {{"k_proj", 2}, {"self_attn.k_proj", 4}};
  TEST_ASSERT_TRUE(contains(adapter.refusal(), "several patterns name model.layers.0.self_attn.k_proj"));
  adapter.config["rank_pattern"] = {{".*k_proj", 2}};
  TEST_ASSERT_TRUE(contains(adapter.refusal(), "more than a module's name"));
}

TEST("lora: DoRA gives every row the length that it was trained to") {
  Adapter adapter;
  adapter.config["use_dora"] = true;
  adapter.tensors[kStem + ".lora_magnitude_vector"] = {{16}, std::vector<float>(16, 3.0f)};
  std::vector<float> row(32);
  read_row(adapter.merged().tensors.at(kModule + ".weight"), 5, row);
  double square = 0, plain = 0;
  for (uint64_t k = 0; k < 32; ++k) {
    square += static_cast<double>(row[k]) * static_cast<double>(row[k]);
    plain += std::pow(adapter.weight(5, k) + 4 * adapter.product(5, k), 2);
  }
  TEST_ASSERT_FLOAT_WITHIN(1e-5f, 3.0f, static_cast<float>(std::sqrt(square)));
  TEST_ASSERT_FLOAT_WITHIN(
      1e-5f, static_cast<float>(3 * (adapter.weight(5, 9) + 4 * adapter.product(5, 9)) / std::sqrt(plain)),
      row[9]);
  adapter.tensors.erase(kStem + ".lora_magnitude_vector");
  TEST_ASSERT_TRUE(contains(adapter.refusal(), "lora_magnitude_vector.weight is missing"));
}

TEST("lora: embeddings and matrices [in, out] get the product transposed") {
  Adapter adapter;
  adapter.tensors = {{"base_model.model.model.embed_tokens.lora_embedding_A", {{2, 50}, ramp(100, 0.1f)}},
                     {"base_model.model.model.embed_tokens.lora_embedding_B", {{32, 2}, ramp(64, 0.01f)}}};
  const auto& a = adapter.tensors.begin()->second.values;
  const auto& b = adapter.tensors.rbegin()->second.values;
  std::vector<float> row(32);
  const Source source = adapter.merged();
  read_row(source.tensors.at("model.embed_tokens.weight"), 7, row);
  for (uint64_t k = 0; k < 32; ++k) {
    const float expected = adapter.llama.tensors.at("model.embed_tokens.weight").values[7 * 32 + k] +
                           4 * (a[7] * b[2 * k] + a[57] * b[2 * k + 1]);
    TEST_ASSERT_FLOAT_WITHIN(1e-6f, expected, row[k]);
  }
  Adapter fan;
  fan.config["fan_in_fan_out"] = true;
  check_weight(fan.merged(), fan, 4);  // peft sets the key back for matrices [out, in]
}

TEST("lora: several adapters add up") {
  Adapter adapter;
  Source source = adapter.merged();
  merge_adapter(source, adapter.folder.path(), 0.5f);
  check_weight(source, adapter, 6);
}

TEST("lora: all keys that are not understood are refused at once, and may be said to change nothing") {
  Adapter adapter;
  adapter.config["init_lora_weights"] = "pissa";
  adapter.config["layer_replication"] = {{0, 2}};
  adapter.config["a_setting_to_come"] = 3;
  const std::string message = adapter.refusal();
  CAPTURE(message);
  TEST_ASSERT_TRUE(
      contains(message, "a_setting_to_come 3, init_lora_weights \"pissa\", layer_replication [["));
  TEST_ASSERT_TRUE(contains(message, "--ignore-key adapter_config.KEY"));
  adapter.ignored = {"adapter_config.a_setting_to_come", "adapter_config.init_lora_weights",
                     "adapter_config.layer_replication"};
  check_weight(adapter.merged(), adapter, 4);
  for (const char* key : {"target_parameters", "kasa_config", "alora_invocation_tokens", "use_qalora"}) {
    Adapter other;
    other.config[key] = {1};
    TEST_ASSERT_TRUE(contains(other.refusal(), std::string(key) + " [1]"));
  }
  Adapter other;
  other.config["peft_type"] = "IA3";
  TEST_ASSERT_TRUE(contains(other.refusal(), "peft_type"));
}

TEST("lora: a key to be ignored that the adapter does not have is an error of the conversion") {
  const Adapter adapter;
  adapter.merged();
  ConvertOptions options;
  options.adapters = {adapter.folder.path().string()};
  options.ignored_keys = {"adapter_config.r"};
  const std::string message = message_of<Error>(
      [&] { mote::convert::convert(adapter.model.path(), adapter.folder / "merged.mote", options); });
  TEST_ASSERT_TRUE(contains(message, "--ignore-key adapter_config.r: there is no such key"));
}

TEST("lora: keys of training alone are named in a note, those at peft's defaults are not") {
  Adapter adapter;
  adapter.config["megatron_core"] = "megatron.core";
  adapter.config["qalora_group_size"] = 16;
  adapter.config["ensure_weight_tying"] = false;
  adapter.config["a_setting_to_come"] = nullptr;
  TEST_ASSERT_EQUAL_UINT64(1, adapter.merged().notes.size());
  adapter.config["eva_config"] = {{"rho", 2.0}};
  adapter.config["megatron_core"] = "other.core";
  TEST_ASSERT_TRUE(contains(adapter.merged().notes.front(), "eva_config, megatron_core are of the training"));
}

TEST("lora: an adapter that fits no weight, or lacks half of itself, is an error by name") {
  Adapter adapter;
  adapter.tensors["base_model.model.model.layers.9.mlp.up_proj.lora_A.weight"] = {{2, 32}, ramp(64, 1)};
  adapter.tensors["base_model.model.model.layers.9.mlp.up_proj.lora_B.weight"] = {{48, 2}, ramp(96, 1)};
  TEST_ASSERT_TRUE(
      contains(adapter.refusal(), "layers.9.mlp.up_proj.lora_A.weight fits no weight of the model"));
  Adapter half;
  half.tensors.erase(kStem + ".lora_B.weight");
  TEST_ASSERT_TRUE(contains(half.refusal(), kStem + ".lora_B.weight is missing"));
  Adapter other;
  other.tensors["base_model.model.model.norm.more"] = {{32}, ramp(32, 1)};
  TEST_ASSERT_TRUE(contains(other.refusal(), "norm.more fits no weight of the model"));
  other.tensors.erase("base_model.model.model.norm.more");
  other.tensors["base_model.model.model.norm.weight"] = {{16}, ramp(16, 1)};
  TEST_ASSERT_TRUE(contains(other.refusal(), "norm.weight [16] does not fit the weight [32]"));
  Adapter none;
  none.tensors = {{"x", {{1}, {1}}}};
  TEST_ASSERT_TRUE(contains(none.refusal(), "has no lora_A tensors"));
}

TEST("lora: a directory is followed by its scale") {
  TEST_ASSERT_FLOAT_WITHIN(0.0f, 1.0f, parse_adapter("some/dir").strength);
  TEST_ASSERT_FLOAT_WITHIN(0.0f, -0.25f, parse_adapter("a=b=-0.25").strength);
  TEST_ASSERT_EQUAL_STRING("a=b", parse_adapter("a=b=-0.25").directory.string());
  for (const char* text : {"a=", "a=x", "a=1x", "a=inf"})
    TEST_ASSERT_TRUE(contains(message_of<Error>([&] { parse_adapter(text); }), "is no number"));
}

TEST("lora: conversion merges before it rounds") {
  const Adapter adapter;
  adapter.merged();
  ConvertOptions options;
  options.type = "f32";
  options.adapters = {adapter.folder.path().string()};
  mote::convert::convert(adapter.model.path(), adapter.folder / "merged.mote", options);
  TinyLlama sum = adapter.llama;
  const Source source = adapter.merged();
  std::vector<float>& values = sum.tensors.at(kModule + ".weight").values;
  for (uint64_t r = 0; r < 16; ++r)
    read_row(source.tensors.at(kModule + ".weight"), r, std::span(values).subspan(r * 32, 32));
  const TempDirectory folder;
  sum.write(folder.path());
  options.adapters.clear();
  mote::convert::convert(folder.path(), folder / "sum.mote", options);
  const std::string merged = read_text(adapter.folder / "merged.mote"),
                    expected = read_text(folder / "sum.mote");
  constexpr size_t kWeights = 60'000;  // the last bytes; the sources' names are in the first
  TEST_ASSERT_TRUE(merged.size() > kWeights && expected.size() > kWeights);
  TEST_ASSERT_TRUE(merged.substr(merged.size() - kWeights) == expected.substr(expected.size() - kWeights));
}
