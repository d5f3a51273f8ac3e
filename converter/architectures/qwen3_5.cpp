// SPDX-License-Identifier: Apache-2.0
//
// Qwen3.5 (text): the gated delta rule in most layers, attention with gated outputs in the others.
#include <nlohmann/json.hpp>

#include "converter/architectures/shared/state_space.h"

namespace mote::convert {
namespace {

/// By layer_types, else every full_attention_interval-th.
std::vector<bool> read_full_attention_layers(Config& config, size_t layers) {
  const auto types = read_layer_types(config, layers, {"full_attention", "linear_attention"});
  const uint32_t interval = config.size("full_attention_interval", 1, kMaxLayers, 4);
  std::vector<bool> result(layers);
  for (size_t i = 0; i < layers; ++i)
    result[i] = types.empty() ? (i + 1) % interval == 0 : types[i] == "full_attention";
  return result;
}

/// Positions of text are the same in all sections of RoPE: the keys change nothing.
nlohmann::json without_sections(nlohmann::json config) {
  for (const char* key : {"rope_parameters", "rope_scaling"}) {
    if (!config.contains(key) || !config[key].is_object()) continue;
    for (const char* section : {"mrope_section", "mrope_interleaved"}) config[key].erase(section);
  }
  return config;
}

}  // namespace

TransformerSpec read_qwen3_5_text(const Source& source, Config& config) {
  TransformerSpec spec = read_llama_like(source, config, "qwen3_5_text");
  const nlohmann::json text = without_sections(config.json());
  Config plain = config.inner(text, "");
  spec.ropes = {read_rope(plain, spec.layers[0].attention.head_dim, spec.context, {},
                          llama_defaults("qwen3_5_text").rope)};
  for (const char* key : {"rope_parameters", "rope_scaling", "rope_theta", "partial_rotary_factor"})
    config.value(key);
  spec.norm_plus_one = source.format != "gguf";  // whose weights have it in them
  const std::string prefix = base_of(source, "model.") + "layers.{}.";
  GatedDeltaSpec mixer;
  mixer.base = prefix + "linear_attn.";
  mixer.heads = config.size("linear_num_value_heads", 1, kMaxSize, 32);
  mixer.key_heads = config.size("linear_num_key_heads", 1, kMaxSize, 16);
  mixer.key_dim = config.size("linear_key_head_dim", 1, kMaxHeadDim, 128);
  mixer.value_dim = config.size("linear_value_head_dim", 1, kMaxHeadDim, 128);
  if (mixer.heads % mixer.key_heads != 0)
    config.refuse("linear_num_value_heads {} is not a multiple of linear_num_key_heads {}", mixer.heads,
                  mixer.key_heads);
  if (uint64_t{mixer.heads} * mixer.value_dim + 2 * uint64_t{mixer.key_heads} * mixer.key_dim > kMaxSize)
    config.refuse("linear_num_value_heads {} of linear_value_head_dim {}", mixer.heads, mixer.value_dim);
  mixer.conv.taps = read_taps(config, "linear_conv_kernel_dim", 4);
  mixer.conv.activation = spec.layers[0].ffn.activation;
  const std::vector<bool> attends = read_full_attention_layers(config, spec.layers.size());
  for (size_t i = 0; i < spec.layers.size(); ++i) {
    LayerSpec& layer = spec.layers[i];
    layer.attention.q_has_gate = true;
    layer.names.q_norm = prefix + "self_attn.q_norm";
    layer.names.k_norm = prefix + "self_attn.k_norm";
    if (attends[i]) continue;
    layer.build = [mixer](TransformerBuilder& builder, const LayerSpec& self) {
      mixer_branch(builder, self, mixer.base + "out_proj", false,
                   [&](BlockInput& in) { return gated_delta(builder, self, mixer, in); });
      builder.ffn(self);
    };
  }
  return spec;
}

}  // namespace mote::convert
