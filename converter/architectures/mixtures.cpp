// SPDX-License-Identifier: Apache-2.0
//
// Relatives of llama whose feed-forwards are mixtures of experts: Mixtral (Jiang et al. 2024), Qwen2-MoE and
// Qwen3-MoE.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "converter/architectures/mixtures.h"

namespace mote::convert {

void read_experts(Config& config, const ExpertKeys& keys, MixtureSpec& spec) {
  spec.experts = config.size(keys.experts, 1, kMaxExperts, keys.default_experts);
  const std::string chosen = "num_experts_per_tok";
  spec.chosen = config.size(chosen, 1, kMaxExperts, keys.default_chosen);
  if (spec.chosen > spec.experts) config.refuse("{} is {}, of {} experts", chosen, spec.chosen, spec.experts);
  if (uint64_t{spec.chosen} * spec.width > kMaxSize)
    config.refuse("{} experts of width {} at a time", spec.chosen, spec.width);
  for (const char* key : {"output_router_logits", "router_aux_loss_coef", "router_jitter_noise"})
    config.value(key);
}

void name_experts(const Source& source, const std::string& prefix, const ExpertNames& each,
                  MixtureSpec& spec) {
  const std::string fused = prefix.substr(prefix.find("{}") + 2) + "gate_up_proj";
  if (std::any_of(source.tensors.begin(), source.tensors.end(),
                  [&](const auto& entry) { return entry.first.ends_with(fused); })) {
    spec.layout = MixtureSpec::Layout::fused;
    spec.gate = prefix + "gate_up_proj";
    spec.down = prefix + "down_proj";
    return;
  }
  spec.gate = prefix + "[]." + each.gate;
  spec.up = prefix + "[]." + each.up;
  spec.down = prefix + "[]." + each.down;
}

void set_mixture(LayerSpec& layer, const MixtureSpec& spec) {
  layer.build = [spec](TransformerBuilder& builder, const LayerSpec& self) {
    builder.attention(self);
    mixture(builder, self, spec);
  };
}

namespace {

/// The layers that have experts: every decoder_sparse_step-th but those of mlp_only_layers.
std::vector<bool> sparse_layers(Config& config, size_t layers) {
  const uint32_t step = config.size("decoder_sparse_step", 1, kMaxLayers, 1);
  std::vector<bool> result(layers);
  for (size_t i = 0; i < layers; ++i) result[i] = (i + 1) % step == 0;
  const nlohmann::json* dense = config.value("mlp_only_layers");
  if (dense == nullptr) return result;
  if (!dense->is_array()) config.refuse_value("mlp_only_layers", dense, "a list of layers");
  for (const nlohmann::json& index : *dense) {
    if (!index.is_number_unsigned()) config.refuse_value("mlp_only_layers", dense, "a list of layers");
    if (index.get<uint64_t>() < layers) result[index.get<size_t>()] = false;
  }
  return result;
}

MixtureSpec qwen_mixture(const Source& source, Config& config, Activation activation, const ExpertKeys& keys,
                         uint32_t width) {
  MixtureSpec spec;
  spec.width = config.size("moe_intermediate_size", 1, kMaxSize, width);
  read_experts(config, keys, spec);
  spec.activation = activation;
  const std::string prefix = base_of(source, "model.") + "layers.{}.mlp.";
  name_experts(source, prefix + "experts.", {"gate_proj", "up_proj", "down_proj"}, spec);
  spec.router = prefix + "gate";
  spec.normalized = config.flag("norm_topk_prob", false);
  return spec;
}

}  // namespace

TransformerSpec read_mixtral(const Source& source, Config& config) {
  TransformerSpec spec = read_llama_like(source, config, "mixtral");
  const auto window = config.optional_size("sliding_window", 1, kMaxSize);
  // transformers 5 may save the names of its own module.
  const std::string layers = base_of(source, "model.") + "layers.";
  const bool own = source.tensors.count(layers + "0.mlp.gate.weight") != 0;
  const std::string prefix = layers + (own ? "{}.mlp." : "{}.block_sparse_moe.");
  MixtureSpec mixture;
  mixture.width = spec.layers[0].ffn.width;
  mixture.activation = spec.layers[0].ffn.activation;
  read_experts(config, {"num_local_experts", 8, 2}, mixture);
  name_experts(source, prefix + "experts.", {"w1", "w3", "w2"}, mixture);
  mixture.router = prefix + "gate";
  mixture.normalized = true;
  for (LayerSpec& layer : spec.layers) {
    layer.attention.window = window.value_or(0);
    set_mixture(layer, mixture);
  }
  return spec;
}

TransformerSpec read_qwen2_moe(const Source& source, Config& config) {
  TransformerSpec spec = read_llama_like(source, config, "qwen2_moe");
  const bool bias = config.flag("qkv_bias", true);
  read_layer_windows(config, spec.layers);
  const Activation activation = spec.layers[0].ffn.activation;
  MixtureSpec mixture = qwen_mixture(source, config, activation, {"num_experts", 60, 4}, 1408);
  const std::string prefix = base_of(source, "model.") + "layers.{}.mlp.";
  mixture.shared = {Ffn::gated, activation,
                    config.size("shared_expert_intermediate_size", 1, kMaxSize, 5632)};
  mixture.shared_gate = prefix + "shared_expert.gate_proj";
  mixture.shared_up = prefix + "shared_expert.up_proj";
  mixture.shared_down = prefix + "shared_expert.down_proj";
  mixture.shared_router = prefix + "shared_expert_gate";
  const std::vector<bool> sparse = sparse_layers(config, spec.layers.size());
  for (size_t i = 0; i < spec.layers.size(); ++i) {
    spec.layers[i].attention.qkv_bias = bias;
    if (sparse[i]) set_mixture(spec.layers[i], mixture);
  }
  return spec;
}

TransformerSpec read_qwen3_moe(const Source& source, Config& config) {
  TransformerSpec spec = read_llama_like(source, config, "qwen3_moe");
  read_layer_windows(config, spec.layers);
  // The class knows the number under both names.
  const bool is_local = config.has("num_local_experts");
  const MixtureSpec mixture = qwen_mixture(source, config, spec.layers[0].ffn.activation,
                                           {is_local ? "num_local_experts" : "num_experts", 128, 8}, 768);
  const std::string base = base_of(source, "model.");
  const std::vector<bool> sparse = sparse_layers(config, spec.layers.size());
  for (size_t i = 0; i < spec.layers.size(); ++i) {
    spec.layers[i].names.q_norm = base + "layers.{}.self_attn.q_norm";
    spec.layers[i].names.k_norm = base + "layers.{}.self_attn.k_norm";
    if (sparse[i]) set_mixture(spec.layers[i], mixture);
  }
  return spec;
}

}  // namespace mote::convert
