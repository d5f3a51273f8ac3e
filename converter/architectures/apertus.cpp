// SPDX-License-Identifier: Apache-2.0
//
// Apertus (Swiss AI 2025): llama with norms of the heads and a plain feed-forward whose activation, xIELU,
// has learned coefficients.
#include "converter/architectures/shared/architecture.h"

namespace mote::convert {

TransformerSpec read_apertus(const Source& source, Config& config) {
  if (!config.has("rope_parameters") && !config.has("rope_scaling"))
    config.refuse("rope_parameters is missing");
  TransformerSpec spec = read_llama_like(source, config, "apertus");
  if (config.text("hidden_act", "xielu") != "xielu") config.refuse("hidden_act is not xielu");
  const std::string prefix = base_of(source, "model.") + "layers.{}.";
  for (LayerSpec& layer : spec.layers) {
    layer.ffn.kind = Ffn::plain;
    layer.ffn.activation = Activation::none;
    layer.names.xielu = prefix + "mlp.act_fn";
    layer.names.q_norm = prefix + "self_attn.q_norm";
    layer.names.k_norm = prefix + "self_attn.k_norm";
    layer.names.attention_norms.before = prefix + "attention_layernorm";
    layer.names.ffn_norms.before = prefix + "feedforward_layernorm";
  }
  return spec;
}

}  // namespace mote::convert
