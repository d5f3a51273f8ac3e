// SPDX-License-Identifier: Apache-2.0
//
// Command R (Cohere 2024): branches of one layer norm without bias side by side, RoPE of neighbouring
// columns, scaled logits and, where asked for, a layer norm of each head.
#include "converter/architectures/shared/architecture.h"

namespace mote::convert {

TransformerSpec read_cohere(const Source& source, Config& config) {
  TransformerSpec spec = read_llama_like(source, config, "cohere");
  spec.norm = NormKind::layer;
  spec.logit_multiplier = static_cast<float>(config.number("logit_scale", 0.0625));
  const bool norms = config.flag("use_qk_norm", false);
  const std::string prefix = base_of(source, "model.") + "layers.{}.";
  for (LayerSpec& layer : spec.layers) {
    layer.branches = Branches::parallel;
    layer.names.ffn_norms.before = "";
    if (!norms) continue;
    layer.attention.head_norm = HeadNorm::layer_own;
    layer.names.q_norm = prefix + "self_attn.q_norm";
    layer.names.k_norm = prefix + "self_attn.k_norm";
  }
  return spec;
}

}  // namespace mote::convert
