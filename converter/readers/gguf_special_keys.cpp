// SPDX-License-Identifier: Apache-2.0
//
// Reads the facts that the metadata of DeepSeek-V3, Gemma 3n, Gemma 4 and T5 says in a way of its own.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>

#include "converter/readers/gguf_keys.h"
#include "converter/readers/gguf_own_keys.h"
#include "host/base/error.h"

namespace mote::convert {
namespace {

uint64_t rows_of_tensor(const FamilyInput& input, const char* name) {
  const auto found = input.file.tensors.find(name);
  if (found == input.file.tensors.end()) fail("{}: tensor {} is missing", input.where, name);
  return found->second.rows();
}

/// Sets the widths of a head, which are the latent's own where the file says those of its heads besides.
void set_latent_widths(const FamilyInput& input) {
  const uint32_t rope = input.config["qk_rope_head_dim"];
  const auto width = [&](const char* of_heads, const char* stored) {
    const auto own = input.metadata.size(of_heads), other = input.metadata.size(stored);
    return own ? *own : other.value_or(0);
  };
  const uint32_t key = width("attention.key_length_mla", "attention.key_length");
  const uint32_t value = width("attention.value_length_mla", "attention.value_length");
  if (key <= rope || value == 0)
    fail("{}: {} heads' keys of {} and values of {}, {} of it with RoPE", input.where, input.family.name, key,
         value, rope);
  input.config["qk_nope_head_dim"] = key - rope;
  input.config["v_head_dim"] = value;
}

/// Sets how experts are scored. Older files do not say it: those with a bias for the choice have the sigmoid.
void set_expert_scores(const FamilyInput& input) {
  enum Function : uint32_t { kUnsaid, kSoftmax, kSigmoid };
  uint32_t function = input.metadata.size("expert_gating_func").value_or(kUnsaid);
  if (function == kUnsaid)
    function = has_tensor_ending(input.file, ".exp_probs_b.bias") ? kSigmoid : kSoftmax;
  if (function != kSigmoid)
    fail("{}: {}.expert_gating_func {} is not read; 2, the sigmoid, is", input.where, input.family.name,
         function);
  input.config["scoring_func"] = "sigmoid";
  input.config["norm_topk_prob"] = input.metadata.flag("expert_weights_norm").value_or(false);
  input.config["routed_scaling_factor"] = input.metadata.number("expert_weights_scale").value_or(1.0);
  input.config["n_group"] = std::max(input.metadata.size("expert_group_count").value_or(1), 1u);
  input.config["topk_group"] = std::max(input.metadata.size("expert_group_used_count").value_or(1), 1u);
}

/// Sets the shares of columns that the gates of layers keep back, which the file has as quantiles of the
/// standard normal distribution.
void set_sparsity(const FamilyInput& input) {
  if (input.metadata.find("activation_sparsity_scale") == nullptr) return;
  nlohmann::json shares = nlohmann::json::array();
  for (const double quantile : input.metadata.reals("activation_sparsity_scale", gguf_layers_of(input)))
    shares.push_back(std::isfinite(quantile) ? std::erfc(-quantile / std::sqrt(2.0)) / 2 : 0.0);
  input.config["activation_sparsity_pattern"] = shares;
}

/// Returns the one number that all layers of a kind have; 0 where no layer is of that kind.
uint32_t of_kind(const FamilyInput& input, const char* key, const std::vector<uint32_t>& numbers,
                 const std::vector<bool>& layers, bool kind) {
  uint32_t found = 0;
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (layers[i] != kind) continue;
    if (found != 0 && numbers[i] != found)
      fail("{}: {}.{}: layers of one kind have {} and {}", input.where, input.family.name, key, found,
           numbers[i]);
    found = numbers[i];
  }
  return found;
}

std::vector<bool> sliding_layers(const FamilyInput& input) {
  std::vector<bool> slides;
  for (const auto& type : input.config["layer_types"]) slides.push_back(type == "sliding_attention");
  return slides;
}

/// Sets the heads of both kinds of layers. Values are keys in those without a window if they have none.
void set_gemma4_heads(const FamilyInput& input) {
  nlohmann::json& config = input.config;
  const uint32_t full = input.metadata.size("attention.key_length").value_or(0);
  const uint32_t sliding = input.metadata.size("attention.key_length_swa").value_or(full);
  require_gguf_value_length(input, full);
  if (input.metadata.size("attention.value_length_swa").value_or(sliding) != sliding ||
      input.metadata.size("rope.dimension_count").value_or(full) != full ||
      input.metadata.size("rope.dimension_count_swa").value_or(sliding) != sliding)
    fail("{}: gemma4's values and RoPE are not as wide as its keys, {} and {}", input.where, full, sliding);
  config["global_head_dim"] = full;
  config["head_dim"] = sliding;
  const std::vector<bool> slides = sliding_layers(input);
  const char* key = "attention.head_count_kv";
  const std::vector<uint32_t> heads = input.metadata.sizes(key, slides.size());
  const uint32_t of_full = of_kind(input, key, heads, slides, false);
  const uint32_t of_sliding = of_kind(input, key, heads, slides, true);
  config["num_key_value_heads"] = of_sliding == 0 ? of_full : of_sliding;
  if (of_full != 0) config["num_global_key_value_heads"] = of_full;
  const uint64_t own = slides.size() - std::min<uint64_t>(slides.size(), config["num_kv_shared_layers"]);
  bool are_keys = false;
  for (uint64_t i = 0; i < own; ++i)
    are_keys |= !slides[i] && input.file.tensors.count(fmt::format("blk.{}.attn_v.weight", i)) == 0;
  config["attention_k_eq_v"] = are_keys;
}

/// Sets the feed-forwards' width, which layers that share keys may have twice.
void set_gemma4_ffn(const FamilyInput& input) {
  const uint32_t layers = gguf_layers_of(input), shared = input.config["num_kv_shared_layers"];
  const char* key = "feed_forward_length";
  const std::vector<uint32_t> widths = input.metadata.sizes(key, layers);
  std::vector<bool> shares(layers);
  for (uint32_t i = 0; i < layers; ++i) shares[i] = i + uint64_t{shared} >= layers;
  const uint32_t width = of_kind(input, key, widths, shares, false);
  const uint32_t of_shared = of_kind(input, key, widths, shares, true);
  if (of_shared != 0 && of_shared != width && of_shared != 2 * uint64_t{width})
    fail("{}: gemma4.{}: layers that share keys have {}, others {}", input.where, key, of_shared, width);
  input.config["intermediate_size"] = width;
  input.config["use_double_wide_mlp"] = of_shared != 0 && of_shared != width;
}

/// Returns the share of a head's columns that RoPE turns: divisors of the others are huge.
double turned_share(const FamilyInput& input) {
  const auto found = input.file.tensors.find("rope_freqs.weight");
  if (found == input.file.tensors.end()) return 1.0;
  constexpr float kHuge = 1e29f;
  std::vector<float> divisors(found->second.cols());
  read_row(found->second, 0, divisors);
  const auto end = std::find_if(divisors.begin(), divisors.end(), [](float x) { return x != 1.0f; });
  if (!std::all_of(end, divisors.end(), [](float x) { return x >= kHuge; }))
    fail("{}: tensor rope_freqs.weight is not ones and then huge numbers", input.where);
  return static_cast<double>(end - divisors.begin()) / static_cast<double>(divisors.size());
}

/// Says whether the file has the embedding again as its output matrix, as files of tied models may.
bool repeats_embedding(const FamilyInput& input) {
  const auto output = input.file.tensors.find("output.weight"),
             embedding = input.file.tensors.find("token_embd.weight");
  if (output == input.file.tensors.end() || embedding == input.file.tensors.end()) return false;
  const SourceTensor &one = output->second, &other = embedding->second;
  return one.type == other.type && one.bytes == other.bytes &&
         std::memcmp(one.data, other.data, one.bytes) == 0;
}

}  // namespace

void read_own_deepseek2(const FamilyInput& input) {
  nlohmann::json& config = input.config;
  set_latent_widths(input);
  set_expert_scores(input);
  input.metadata.size("attention.head_count_kv");  // which counts the latent as one
  config["num_key_value_heads"] = config["num_attention_heads"];
  const auto rank = input.metadata.size("attention.q_lora_rank");
  config["q_lora_rank"] = rank ? nlohmann::json(*rank) : nlohmann::json();
  read_gguf_rope(input);
  // The writer has multiplied it by 0.1.
  const auto growth = input.metadata.number("rope.scaling.yarn_log_multiplier");
  if (!growth || !config.contains("rope_scaling")) return;
  const double all = std::round(*growth * 10 * 1e6) / 1e6;
  config["rope_scaling"].update({{"mscale", all}, {"mscale_all_dim", all}});
}

void read_own_gemma3n(const FamilyInput& input) {
  nlohmann::json& config = input.config;
  constexpr uint32_t kOwnKeys = 20;  // layers that have keys of their own in files that do not say it
  const uint32_t layers = gguf_layers_of(input);
  set_gguf_layer_windows(input, 5);
  set_gguf_local_rope(input);
  set_sparsity(input);
  config["num_kv_shared_layers"] =
      input.metadata.size("attention.shared_kv_layers").value_or(layers - std::min(layers, kOwnKeys));
  config["laurel_rank"] = rows_of_tensor(input, "blk.0.laurel_l.weight");
  config["vocab_size_per_layer_input"] = rows_of_tensor(input, "per_layer_token_embd.weight");
}

void read_own_gemma4(const FamilyInput& input) {
  nlohmann::json& config = input.config;
  set_gguf_layer_windows(input, 6);
  set_gemma4_heads(input);
  set_gemma4_ffn(input);
  const double theta = input.metadata.number("rope.freq_base").value_or(1e6);
  config["rope_parameters"] = {
      {"full_attention",
       {{"rope_type", "proportional"},
        {"partial_rotary_factor", turned_share(input)},
        {"rope_theta", theta}}},
      {"sliding_attention",
       {{"rope_type", "default"},
        {"rope_theta", input.metadata.number("rope.freq_base_swa").value_or(theta)}}}};
  if (config["hidden_size_per_layer_input"] != 0)
    config["vocab_size_per_layer_input"] = rows_of_tensor(input, "per_layer_token_embd.weight");
}

/// Only umT5 has a bias in every layer. The farthest distance and the activation, GELU with a gate and else
/// ReLU, are llama.cpp's.
void read_own_t5(const FamilyInput& input) {
  nlohmann::json& config = input.config;
  require_gguf_value_length(input, config["d_kv"]);
  if (input.file.tensors.count("enc.blk.1.attn_rel_b.weight") != 0) config["model_type"] = "umt5";
  const bool gated = has_tensor_ending(input.file, ".ffn_gate.weight");
  config["feed_forward_proj"] = gated ? "gated-gelu" : "relu";
  config["relative_attention_max_distance"] = 128;
  config["is_encoder_decoder"] = true;
  if (!config.contains("decoder_start_token_id")) config["decoder_start_token_id"] = 0;
  if (repeats_embedding(input)) config["tie_word_embeddings"] = true;  // whose logits are scaled
  if (const auto id = input.metadata.token("padding_token_id")) config["pad_token_id"] = *id;
}

void read_own_t5_encoder(const FamilyInput& input) {
  read_own_t5(input);
  input.config["is_encoder_decoder"] = false;
  input.config["architectures"] = {input.config["model_type"] == "umt5" ? "UMT5EncoderModel"
                                                                        : "T5EncoderModel"};
}

}  // namespace mote::convert
