// SPDX-License-Identifier: Apache-2.0
//
// Phi (Gunasekar et al. 2023, Li et al. 2023): attention and feed-forward of one norm side by side, RoPE of
// the first columns, biases everywhere.
#include "converter/architectures/shared/architecture.h"

namespace mote::convert {

TransformerSpec read_phi(const Source& source, Config& config) {
  TransformerSpec spec = read_llama_like(source, config, "phi");
  require_flag(config, "qk_layernorm", false);
  const std::string prefix = base_of(source, "model.") + "layers.{}.";
  for (LayerSpec& layer : spec.layers) {
    layer.attention.qkv_bias = layer.attention.o_bias = layer.ffn.bias = true;
    layer.ffn.kind = Ffn::plain;
    layer.branches = Branches::parallel;
    layer.names.ffn_norms.before = "";
    layer.names.o = prefix + "self_attn.dense";
    layer.names.up = prefix + "mlp.fc1";
    layer.names.down = prefix + "mlp.fc2";
  }
  spec.norm = NormKind::layer;
  spec.norm_bias = true;
  spec.names.final_norm = base_of(source, "model.") + "final_layernorm";
  spec.head.output_bias = "lm_head.bias";
  return spec;
}

}  // namespace mote::convert
