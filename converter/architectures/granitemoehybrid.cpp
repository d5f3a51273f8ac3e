// SPDX-License-Identifier: Apache-2.0
//
// Granite 4 (IBM 2025): Granite whose layers have Mamba-2 or attention, and a mixture of experts beside a
// shared feed-forward, or that alone.
#include <nlohmann/json.hpp>

#include "converter/architectures/mixtures.h"
#include "converter/architectures/shared/state_space.h"

namespace mote::convert {
namespace {

/// Which layers attend; the others scan.
std::vector<bool> granite_attention_layers(Config& config, size_t layers) {
  const char* key = config.has("layer_types") ? "layer_types" : "layers_block_type";
  const nlohmann::json* types = config.value(key);
  std::vector<bool> result(layers, false);
  if (types == nullptr) return result;
  if (!types->is_array() || types->size() != layers)
    config.refuse_value(key, types, fmt::format("a list of {} layers", layers));
  for (size_t i = 0; i < layers; ++i) {
    const std::string kind = (*types)[i].is_string() ? (*types)[i].get<std::string>() : "";
    result[i] = kind == "attention" || kind == "full_attention";
    if (!result[i] && kind != "mamba" && kind != "linear_attention")
      config.refuse("{} has {}, expected mamba or attention", key, (*types)[i].dump());
  }
  return result;
}

MixtureSpec read_mixture(Config& config, const std::string& prefix, const LayerSpec& layer) {
  MixtureSpec experts;
  experts.width = config.size("intermediate_size", 1, kMaxSize, 11008);
  read_experts(config, {"num_local_experts", 8, 2}, experts);
  experts.activation = layer.ffn.activation;
  const std::string base = prefix + "block_sparse_moe.";
  if (layer.names.gate_up.empty()) {  // from a GGUF
    experts.gate = base + "experts.[].gate_proj";
    experts.up = base + "experts.[].up_proj";
    experts.down = base + "experts.[].down_proj";
    experts.shared_gate = layer.names.gate;
    experts.shared_up = layer.names.up;
  } else {
    experts.layout = MixtureSpec::Layout::fused;
    experts.gate = base + "input_linear.weight";
    experts.down = base + "output_linear.weight";
    experts.shared_gate = layer.names.gate_up;
  }
  experts.router = base + "router.layer";
  experts.scores = Scores::softmax_of_chosen;
  experts.shared = layer.ffn;
  experts.shared_down = layer.names.down;
  return experts;
}

}  // namespace

TransformerSpec read_granitemoehybrid(const Source& source, Config& config) {
  TransformerSpec spec = read_llama_like(source, config, "granitemoehybrid");
  read_granite_multipliers(config, spec);
  const std::string positions = config.optional_text("position_embedding_type").value_or("nope");
  if (positions != "rope" && positions != "nope")
    config.refuse("position_embedding_type is \"{}\", expected rope or nope", positions);
  if (positions == "nope") spec.ropes.clear();
  const uint32_t width = config.size("shared_intermediate_size", 1, kMaxSize, 1024);
  const std::string prefix = base_of(source, "model.") + "layers.{}.";
  // A GGUF has gate and up apart, under a llama's names.
  const bool apart = source.tensors.count(base_of(source, "model.") + "layers.0.mlp.gate_proj.weight") != 0;
  for (LayerSpec& layer : spec.layers) {
    layer.attention.rope = positions == "rope" ? 0 : kNone;
    layer.ffn.width = width;
    if (apart) continue;
    layer.names.gate = layer.names.up = "";
    layer.names.gate_up = prefix + "shared_mlp.input_linear";
    layer.names.down = prefix + "shared_mlp.output_linear";
  }
  for (const char* unused : {"normalization_function", "init_method"}) config.value(unused);

  const std::vector<bool> attends = granite_attention_layers(config, spec.layers.size());
  const uint32_t scanned = spec.width * config.size("mamba_expand", 1, 64, 2);
  Mamba2Spec mixer = read_hybrid_mixer(config, scanned);
  mixer.base = prefix + "mamba.";
  const bool scans = std::find(attends.begin(), attends.end(), false) != attends.end();
  if (scans) check_hybrid_mixer(config, mixer, scanned);
  const bool has_experts = config.optional_size("num_local_experts", 0, kMaxExperts, 8).value_or(0) != 0;
  MixtureSpec experts;
  if (has_experts) experts = read_mixture(config, prefix, spec.layers[0]);
  for (const char* key : {"num_experts_per_tok", "output_router_logits", "router_aux_loss_coef"})
    config.value(key);
  for (size_t i = 0; i < spec.layers.size(); ++i) {
    if (attends[i] && !has_experts) continue;
    spec.layers[i].build = [mixer, experts, has_experts, attention = attends[i]](TransformerBuilder& builder,
                                                                                 const LayerSpec& self) {
      if (attention) {
        builder.attention(self);
      } else {
        mixer_branch(builder, self, mixer.base + "out_proj", mixer.bias,
                     [&](BlockInput& in) { return mamba2(builder, self, mixer, in); });
      }
      if (has_experts) {
        mixture(builder, self, experts);
      } else {
        builder.ffn(self);
      }
    };
  }
  return spec;
}

}  // namespace mote::convert
