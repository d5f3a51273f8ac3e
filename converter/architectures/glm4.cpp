// SPDX-License-Identifier: Apache-2.0
//
// GLM-4 (Zhipu 2025): llama with norms on both sides of a branch, fused gate and up, biases on q, k and v,
// and RoPE of neighbouring columns of the first half.
#include "converter/architectures/shared/architecture.h"

namespace mote::convert {

TransformerSpec read_glm4(const Source& source, Config& config) {
  TransformerSpec spec = read_llama_like(source, config, "glm4");
  const std::string prefix = base_of(source, "model.") + "layers.{}.";
  for (LayerSpec& layer : spec.layers) {
    layer.attention.o_bias = false;
    layer.names.gate = layer.names.up = "";
    layer.names.gate_up = prefix + "mlp.gate_up_proj";
    layer.names.attention_norms.after = prefix + "post_self_attn_layernorm";
    layer.names.ffn_norms.after = prefix + "post_mlp_layernorm";
  }
  return spec;
}

}  // namespace mote::convert
