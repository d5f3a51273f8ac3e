// SPDX-License-Identifier: Apache-2.0
//
// OLMo 2 and 3 (OLMo Team 2025): llama with norms behind the branches and a norm over all heads of q and of
// k. OLMo 3 has windows in three of four layers, whose RoPE is not scaled.
#include "converter/architectures/shared/architecture.h"

namespace mote::convert {
namespace {

TransformerSpec read_olmo(const Source& source, Config& config, std::string_view name) {
  TransformerSpec spec = read_llama_like(source, config, name);
  const std::string prefix = base_of(source, "model.") + "layers.{}.";
  for (LayerSpec& layer : spec.layers) {
    layer.attention.head_norm = HeadNorm::rms_whole;
    layer.names.q_norm = prefix + "self_attn.q_norm";
    layer.names.k_norm = prefix + "self_attn.k_norm";
    layer.names.attention_norms = {"", prefix + "post_attention_layernorm", ""};
    layer.names.ffn_norms = {"", prefix + "post_feedforward_layernorm", ""};
  }
  return spec;
}

}  // namespace

TransformerSpec read_olmo2(const Source& source, Config& config) {
  return read_olmo(source, config, "olmo2");
}

TransformerSpec read_olmo3(const Source& source, Config& config) {
  TransformerSpec spec = read_olmo(source, config, "olmo3");
  KindRopeKeys keys{{.theta = 5e5}, {.theta = 5e5}};
  keys.full_head_dim = keys.sliding_head_dim = spec.layers[0].attention.head_dim;
  KindRopes ropes = read_kind_ropes(config, keys, spec.context);
  spec.ropes = {std::move(ropes.full), std::move(ropes.sliding)};
  const auto window = config.optional_size("sliding_window", 1, kMaxSize, 4096);
  const std::vector<bool> slides =
      read_sliding_layers(config, spec.layers.size(), [](uint32_t layer) { return (layer + 1) % 4 != 0; });
  for (size_t i = 0; i < slides.size(); ++i) {
    spec.layers[i].attention.window = slides[i] ? window.value_or(0) : 0;
    spec.layers[i].attention.rope = slides[i] ? 1 : 0;
  }
  return spec;
}

}  // namespace mote::convert
