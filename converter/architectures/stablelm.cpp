// SPDX-License-Identifier: Apache-2.0
//
// StableLM 2 (Bellagente et al. 2024): llama with layer norms, RoPE of the first columns and, where asked
// for, biases on q, k and v, a layer norm of each head, and branches side by side.
#include "converter/architectures/shared/architecture.h"

namespace mote::convert {

TransformerSpec read_stablelm(const Source& source, Config& config) {
  TransformerSpec spec = read_llama_like(source, config, "stablelm");
  const bool bias = config.flag("use_qkv_bias", false), norms = config.flag("qk_layernorm", false);
  const bool parallel = config.flag("use_parallel_residual", false);
  const std::string prefix = base_of(source, "model.") + "layers.{}.";
  for (LayerSpec& layer : spec.layers) {
    layer.attention.qkv_bias = bias;
    if (norms) {
      layer.attention.head_norm = HeadNorm::layer_own;
      layer.names.q_norm = prefix + "self_attn.q_layernorm";
      layer.names.k_norm = prefix + "self_attn.k_layernorm";
    }
    if (!parallel) continue;
    layer.branches = Branches::parallel;
    layer.names.ffn_norms.before = "";
  }
  spec.norm = NormKind::layer;
  spec.norm_bias = true;
  return spec;
}

}  // namespace mote::convert
