// SPDX-License-Identifier: Apache-2.0
//
// Reads the facts that a family's metadata says in a way of its own: layers that differ, scales and switches
// that have no key and that llama.cpp takes from the architecture.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "converter/readers/gguf_families.h"
#include "converter/readers/gguf_keys.h"
#include "converter/readers/gguf_names.h"
#include "converter/readers/gguf_own_keys.h"
#include "host/base/error.h"

namespace mote::convert {
namespace {

/// Fails unless the file says that attention is not causal.
void require_not_causal(const FamilyInput& input) {
  if (input.metadata.flag("attention.causal").value_or(true))
    fail("{}: {}.attention.causal is not false: this is no encoder", input.where, input.family.name);
}

void set_token_types(const FamilyInput& input) {
  const auto types = input.file.tensors.find("token_types.weight");
  input.config["type_vocab_size"] = types == input.file.tensors.end() ? 0 : types->second.rows();
}

/// Returns Granite's switch for RoPE, which is on where the file does not say.
bool has_rope_switched_on(GgufKeys& metadata) {
  return metadata.flag("rope.scaling.finetuned").value_or(true);
}

/// The scores' scale, which the file does not say: by the width of the heads, but in the largest of each kind
/// by the width that a head would have of the model's.
void set_gemma_scale(const FamilyInput& input, uint32_t largest) {
  nlohmann::json& config = input.config;
  const uint32_t heads = config["num_attention_heads"];
  const bool by_width = gguf_layers_of(input) == largest && heads != 0;
  config["query_pre_attn_scalar"] =
      by_width ? config["hidden_size"].get<uint32_t>() / heads : config["head_dim"].get<uint32_t>();
}

void set_expansion(const FamilyInput& input) {
  const uint32_t inner = input.metadata.size("ssm.inner_size").value_or(0);
  const uint32_t width = input.config["hidden_size"];
  if (width == 0 || inner == 0 || inner % width != 0)
    fail("{}: {}.ssm.inner_size {} is no multiple of a width of {}", input.where, input.family.name, inner,
         width);
  input.config["expand"] = inner / width;
}

}  // namespace

uint32_t gguf_layers_of(const FamilyInput& input) {
  return input.config.at("num_hidden_layers").get<uint32_t>();
}

void set_gguf_layer_windows(const FamilyInput& input, uint32_t period, bool first) {
  const uint32_t layers = gguf_layers_of(input);
  nlohmann::json types = nlohmann::json::array();
  std::optional<std::vector<bool>> marked;
  if (const GgufValue* pattern = input.metadata.find("attention.sliding_window_pattern")) {
    if (std::holds_alternative<GgufArray>(*pattern)) {
      marked = input.metadata.flags("attention.sliding_window_pattern", layers);
    } else {
      period = input.metadata.size("attention.sliding_window_pattern").value();
    }
  }
  const auto window = input.config.find("sliding_window");
  const bool none = window == input.config.end() || *window == 0;
  for (uint32_t i = 0; i < layers; ++i) {
    const uint32_t place = period == 0 ? 1 : (first ? i : i + 1) % period;
    const bool slides = !none && (marked ? (*marked)[i] : place != 0);
    types.push_back(slides ? "sliding_attention" : "full_attention");
  }
  if (none) input.config["sliding_window"] = nullptr;
  input.config["layer_types"] = types;
}

bool has_tensor_ending(const GgufFile& file, std::string_view end) {
  return std::any_of(file.tensors.begin(), file.tensors.end(),
                     [&](const auto& tensor) { return tensor.first.ends_with(end); });
}

void set_gguf_local_rope(const FamilyInput& input) {
  if (const auto theta = input.metadata.number("rope.freq_base_swa"))
    input.config["rope_local_base_freq"] = *theta;
}

void require_gguf_value_length(const FamilyInput& input, uint32_t width) {
  if (input.metadata.size("attention.value_length").value_or(width) != width)
    fail("{}: {}.attention.value_length differs from the keys' {}, which is not supported", input.where,
         input.family.name, width);
}

void read_own_bert(const FamilyInput& input) {
  require_not_causal(input);
  input.config["architectures"] = {"BertModel"};
  set_token_types(input);
}

void read_own_nomic_bert(const FamilyInput& input) {
  require_not_causal(input);
  input.config["architectures"] = {"NomicBertModel"};
  const auto width = input.metadata.size("attention.key_length");
  if (width) input.config["head_dim"] = *width;
  if (input.metadata.size("attention.value_length") != width)
    fail("{}: nomic-bert.attention.value_length is not its key_length", input.where);
  set_token_types(input);
}

void read_own_modern_bert(const FamilyInput& input) {
  require_not_causal(input);
  input.config["architectures"] = {"ModernBertModel"};
  if (!input.config.contains("norm_eps"))
    fail("{}: no metadata key modern-bert.attention.layer_norm_epsilon", input.where);
  input.config["sliding_window"] = input.config["local_attention"];
  set_gguf_layer_windows(input, 3, true);
  input.config.erase("sliding_window");
  const std::string activation = input.metadata.text("hidden_activation", "gelu");
  input.config["hidden_activation"] = activation;
  if (const std::string type = input.metadata.text("rope.scaling.type", "none"); type != "none")
    fail("{}: modern-bert.rope.scaling.type '{}' is not read", input.where, shown(type));
}

/// Mistral's window is the only thing that tells it from a llama; Mixtral has one or none.
void read_own_llama(const FamilyInput& input) {
  const auto window = input.metadata.size("attention.sliding_window");
  if (!window || *window == 0) return;
  if (input.config["model_type"] == "llama") input.config["model_type"] = "mistral";
  input.config["sliding_window"] = *window;
}

/// Ministral 3's queries grow with the position; Mistral Small 3's do not.
void read_own_mistral3(const FamilyInput& input) {
  nlohmann::json& config = input.config;
  config["sliding_window"] = nullptr;
  const auto log_factor = input.metadata.number("rope.scaling.yarn_log_multiplier");
  if (config.contains("rope_scaling") && log_factor.value_or(0) != 0)
    config["rope_scaling"].update({{"mscale", 1.0}, {"mscale_all_dim", *log_factor}});
  const auto growth = input.metadata.number("attention.temperature_scale");
  if (growth.value_or(0) == 0) return;
  if (!config.contains("rope_scaling"))
    fail("{}: mistral3.attention.temperature_scale without rope.scaling is not read", input.where);
  config["model_type"] = "ministral3";
  config["rope_scaling"]["llama_4_scaling_beta"] = *growth;
}

void read_own_lfm2(const FamilyInput& input) { input.config["block_auto_adjust_ff_dim"] = false; }

void read_own_lfm2_moe(const FamilyInput& input) {
  if (const auto scores = input.metadata.size("expert_gating_func"); scores.value_or(2) != 2)
    fail("{}: lfm2moe.expert_gating_func is {}; 2, the sigmoid, is read", input.where, *scores);
  input.config["use_expert_bias"] = has_tensor_ending(input.file, ".exp_probs_b.bias");
}

void read_own_granite(const FamilyInput& input) {
  if (!has_rope_switched_on(input.metadata))
    fail("{}: granite.rope.scaling.finetuned is false: a granite without RoPE is not read", input.where);
}

/// The scans, and the feed-forward that every token takes.
void read_own_granite_hybrid(const FamilyInput& input) {
  nlohmann::json& config = input.config;
  static constexpr KeyRule kKeys[] = {{"ssm.conv_kernel", "mamba_d_conv"},
                                      {"ssm.state_size", "mamba_d_state"},
                                      {"ssm.group_count", "mamba_n_groups"},
                                      {"ssm.time_step_rank", "mamba_n_heads"},
                                      {"ssm.inner_size", "mamba_d_head"}};
  read_gguf_keys(input, kKeys);
  const uint32_t inner = config["mamba_d_head"], heads = config["mamba_n_heads"],
                 width = config["hidden_size"];
  if (heads == 0 || inner % heads != 0 || width == 0 || inner % width != 0)
    fail("{}: {}.ssm.inner_size {} is no multiple of {} heads and of a width of {}", input.where,
         input.family.name, inner, heads, width);
  config["mamba_d_head"] = inner / heads;
  config["mamba_expand"] = inner / width;
  config["mamba_conv_bias"] = has_tensor_ending(input.file, ".ssm_conv1d.bias");
  config["position_embedding_type"] = has_rope_switched_on(input.metadata) ? "rope" : "nope";
  config["shared_intermediate_size"] = input.metadata.size("expert_shared_feed_forward_length")
                                           .value_or(config["intermediate_size"].get<uint32_t>());
  if (!config.contains("num_local_experts")) config["num_local_experts"] = 0;
}

void read_own_gemma2(const FamilyInput& input) {
  set_gemma_scale(input, 46);
  set_gguf_layer_windows(input, 2);
}

void read_own_gemma3(const FamilyInput& input) {
  set_gemma_scale(input, 62);
  set_gguf_layer_windows(input, 6);
  set_gguf_local_rope(input);
}

void read_own_embedding_gemma(const FamilyInput& input) {
  input.config["architectures"] = {"Gemma3TextModel"};
  input.config["use_bidirectional_attention"] = true;
  set_gemma_scale(input, 0);
  set_gguf_layer_windows(input, 6);
  set_gguf_local_rope(input);
}

/// OLMo 3 differs by its windows.
void read_own_olmo2(const FamilyInput& input) {
  const auto window = input.metadata.size("attention.sliding_window");
  if (window.value_or(0) == 0) return;
  input.config["model_type"] = "olmo3";
  input.config["sliding_window"] = *window;
  set_gguf_layer_windows(input, 4);
}

/// LongRoPE's factors are tensors, and the factor of its attention follows from the two contexts.
void read_own_phi3(const FamilyInput& input) {
  nlohmann::json& config = input.config;
  if (config.value("sliding_window", 0u) == 0) config["sliding_window"] = nullptr;
  const auto old_context = input.metadata.size("rope.scaling.original_context_length");
  const auto scale = input.metadata.number("rope.scaling.attn_factor");
  nlohmann::json scaling = {{"rope_type", "longrope"}};
  for (const char* kind : {"long", "short"}) {
    const auto factors = input.file.tensors.find(std::string("rope_factors_") + kind + ".weight");
    if (factors == input.file.tensors.end()) return;
    std::vector<float> values(factors->second.cols());
    read_row(factors->second, 0, values);
    scaling[std::string(kind) + "_factor"] = values;
  }
  if (!old_context) fail("{}: no metadata key phi3.rope.scaling.original_context_length", input.where);
  scaling["original_max_position_embeddings"] = *old_context;
  if (scale) scaling["attention_factor"] = *scale;
  config["original_max_position_embeddings"] = *old_context;
  config["rope_scaling"] = scaling;
}

/// Layers without a window have RoPE only where no layer has a window.
void read_own_exaone4(const FamilyInput& input) {
  set_gguf_layer_windows(input, gguf_layers_of(input) == 64 ? 4 : 1);
  const auto& types = input.config["layer_types"];
  if (std::find(types.begin(), types.end(), "sliding_attention") == types.end())
    input.config["sliding_window"] = nullptr;
}

void read_own_glm4(const FamilyInput& input) {
  input.config["attention_bias"] = has_tensor_ending(input.file, ".attn_q.bias");
  const uint32_t head_dim = input.config["head_dim"];
  input.config["partial_rotary_factor"] =
      static_cast<double>(input.metadata.size("rope.dimension_count").value_or(head_dim)) / head_dim;
}

void read_own_gpt_oss(const FamilyInput& input) {
  set_gguf_layer_windows(input, 2);
  input.config["attention_bias"] = true;
  if (input.config.contains("rope_scaling")) input.config["rope_scaling"]["truncate"] = false;
}

void read_own_qwen35(const FamilyInput& input) {
  nlohmann::json& config = input.config;
  static constexpr KeyRule kKeys[] = {{"ssm.conv_kernel", "linear_conv_kernel_dim"},
                                      {"ssm.state_size", "linear_key_head_dim"},
                                      {"ssm.group_count", "linear_num_key_heads"},
                                      {"ssm.time_step_rank", "linear_num_value_heads"},
                                      {"ssm.inner_size", "linear_value_head_dim"}};
  read_gguf_keys(input, kKeys);
  const uint32_t inner = config["linear_value_head_dim"], heads = config["linear_num_value_heads"],
                 key_heads = config["linear_num_key_heads"];
  if (heads == 0 || inner % heads != 0 || key_heads == 0 || heads % key_heads != 0)
    fail("{}: qwen35.ssm.inner_size {} of {} heads, {} of keys", input.where, inner, heads, key_heads);
  config["linear_value_head_dim"] = inner / heads;
  const uint32_t layers = gguf_layers_of(input), head_dim = config["head_dim"];
  const uint32_t interval = input.metadata.size("full_attention_interval").value_or(4);
  std::vector<bool> scans(layers);
  for (uint32_t i = 0; i < layers; ++i) scans[i] = interval == 0 || (i + 1) % interval != 0;
  if (input.metadata.find("attention.recurrent_layers") != nullptr)
    scans = input.metadata.flags("attention.recurrent_layers", layers);
  config["layer_types"] = nlohmann::json::array();
  for (const bool scan : scans) config["layer_types"].push_back(scan ? "linear_attention" : "full_attention");
  // Positions of text are the same in all sections.
  input.metadata.find("rope.dimension_sections");
  config["partial_rotary_factor"] =
      static_cast<double>(input.metadata.size("rope.dimension_count").value_or(head_dim)) / head_dim;
}

void read_own_mamba(const FamilyInput& input) {
  set_expansion(input);
  if (input.metadata.flag("ssm.dt_b_c_rms").value_or(false))
    fail("{}: mamba.ssm.dt_b_c_rms is true: Falcon Mamba is not read", input.where);
  input.config["use_conv_bias"] = has_tensor_ending(input.file, ".ssm_conv1d.bias");
}

void read_own_mamba2(const FamilyInput& input) {
  set_expansion(input);
  const uint32_t inner = *input.metadata.size("ssm.inner_size"), heads = input.config["num_heads"];
  if (heads == 0 || inner % heads != 0)
    fail("{}: mamba2.ssm.inner_size {} is no multiple of {} heads", input.where, inner, heads);
  input.config["head_dim"] = inner / heads;
  input.config["use_conv_bias"] = has_tensor_ending(input.file, ".ssm_conv1d.bias");
}

/// Its multipliers are in the weights.
void read_own_falcon_h1(const FamilyInput& input) {
  nlohmann::json& config = input.config;
  static constexpr KeyRule kKeys[] = {{"ssm.conv_kernel", "mamba_d_conv"},
                                      {"ssm.state_size", "mamba_d_state"},
                                      {"ssm.group_count", "mamba_n_groups"},
                                      {"ssm.time_step_rank", "mamba_n_heads"},
                                      {"ssm.inner_size", "mamba_d_ssm"}};
  read_gguf_keys(input, kKeys);
  const uint32_t inner = config["mamba_d_ssm"], heads = config["mamba_n_heads"];
  if (heads == 0 || inner % heads != 0)
    fail("{}: falcon-h1.ssm.inner_size {} is no multiple of {} heads", input.where, inner, heads);
  config["mamba_d_head"] = inner / heads;
  config["mamba_conv_bias"] = has_tensor_ending(input.file, ".ssm_conv1d.bias");
  config["mamba_rms_norm"] = has_tensor_ending(input.file, ".ssm_norm.weight");
  config["mamba_norm_before_gate"] = false;
}

}  // namespace mote::convert
