// SPDX-License-Identifier: Apache-2.0
//
// A Hugging Face directory of a llama with random weights, to be damaged in one place per test.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "converter/readers/safetensors.h"
#include "tests/support/files.h"

namespace mote::testing {

struct TinyLlama {
  nlohmann::json config = {{"model_type", "llama"},    {"vocab_size", 50},
                           {"hidden_size", 32},        {"num_hidden_layers", 2},
                           {"intermediate_size", 48},  {"num_attention_heads", 4},
                           {"num_key_value_heads", 2}, {"max_position_embeddings", 64},
                           {"rms_norm_eps", 1e-5},     {"hidden_act", "silu"},
                           {"rope_theta", 10000.0},    {"tie_word_embeddings", false}};
  struct Tensor {
    std::vector<uint64_t> shape;
    std::vector<float> values;
  };
  std::map<std::string, Tensor> tensors;

  TinyLlama() {
    add("model.embed_tokens.weight", {50, 32});
    add("model.norm.weight", {32});
    add("lm_head.weight", {50, 32});
    for (const char* layer : {"model.layers.0.", "model.layers.1."}) {
      const std::string prefix = layer;
      add(prefix + "input_layernorm.weight", {32});
      add(prefix + "post_attention_layernorm.weight", {32});
      add(prefix + "self_attn.q_proj.weight", {32, 32});
      add(prefix + "self_attn.k_proj.weight", {16, 32});
      add(prefix + "self_attn.v_proj.weight", {16, 32});
      add(prefix + "self_attn.o_proj.weight", {32, 32});
      add(prefix + "mlp.gate_proj.weight", {48, 32});
      add(prefix + "mlp.up_proj.weight", {48, 32});
      add(prefix + "mlp.down_proj.weight", {32, 48});
    }
  }

  /// Values from -0.5 to 0.5.
  void add(const std::string& name, std::vector<uint64_t> shape) {
    uint64_t count = 1;
    for (const uint64_t dim : shape) count *= dim;
    Tensor tensor{std::move(shape), std::vector<float>(count)};
    for (float& value : tensor.values) {
      state_ = state_ * 6364136223846793005u + 1442695040888963407u;
      value = static_cast<float>(state_ >> 40) / 0x1p24f - 0.5f;
    }
    tensors[name] = std::move(tensor);
  }

  void write(const std::filesystem::path& directory) const {
    std::filesystem::create_directories(directory);
    write_text(directory / "config.json", config.dump());
    convert::NamedTensors named;
    for (const auto& [name, tensor] : tensors) named[name] = convert::f32_tensor(tensor.shape, tensor.values);
    convert::write_safetensors(directory / "model.safetensors", named);
  }

 private:
  uint64_t state_ = 1;
};

}  // namespace mote::testing
