// SPDX-License-Identifier: Apache-2.0
//
// Granite 4 (IBM 2025) of attention alone, without experts: Granite whose feed-forward is called the shared
// one.
#include <nlohmann/json.hpp>

#include "converter/architectures/architecture.h"

namespace mote::convert {
namespace {

/// All of attention and none with experts; the keys of what is not there change nothing.
void check_layers(Config& config, size_t layers) {
  const char* key = config.has("layer_types") ? "layer_types" : "layers_block_type";
  const nlohmann::json* types = config.value(key);
  if (types == nullptr || !types->is_array() || types->size() != layers)
    config.refuse_value(key, types, fmt::format("a list of {} layers", layers));
  for (const nlohmann::json& type : *types) {
    const std::string kind = type.is_string() ? type.get<std::string>() : "";
    if (kind != "attention" && kind != "full_attention")
      config.refuse("{} has {}; of this model_type layers of attention alone are supported", key,
                    type.dump());
  }
  if (config.optional_size("num_local_experts", 0, kMaxSize, 8).value_or(0) != 0)
    config.refuse("num_local_experts is not 0; of this model_type models without experts are supported");
  for (const char* unused :
       {"num_experts_per_tok", "output_router_logits", "router_aux_loss_coef", "mamba_n_heads",
        "mamba_n_groups", "mamba_d_state", "mamba_d_head", "mamba_d_conv", "mamba_expand", "mamba_chunk_size",
        "mamba_conv_bias", "mamba_proj_bias", "time_step_limit", "normalization_function", "init_method"})
    config.value(unused);
}

}  // namespace

TransformerSpec read_granitemoehybrid(const Source& source, Config& config) {
  LlamaDefaults defaults{.vocab = 32000, .ffn_width = 11008, .context = 2048};
  defaults.bos_id = 1;
  defaults.mlp_bias = false;
  TransformerSpec spec = read_llama_like(source, config, defaults);
  read_granite_multipliers(config, spec);
  check_layers(config, spec.layers.size());
  const std::string positions = config.optional_text("position_embedding_type").value_or("nope");
  if (positions != "rope" && positions != "nope")
    config.refuse("position_embedding_type is \"{}\", expected rope or nope", positions);
  if (positions == "nope") spec.ropes.clear();
  const uint32_t width = config.size("shared_intermediate_size", 1, kMaxSize, 1024);
  const std::string prefix = base_of(source, "model.") + "layers.{}.";
  for (LayerSpec& layer : spec.layers) {
    layer.attention.rope = positions == "rope" ? 0 : kNone;
    layer.ffn.width = width;
    layer.names.gate = layer.names.up = "";
    layer.names.gate_up = prefix + "shared_mlp.input_linear";
    layer.names.down = prefix + "shared_mlp.output_linear";
  }
  return spec;
}

}  // namespace mote::convert
