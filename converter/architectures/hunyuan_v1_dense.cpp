// SPDX-License-Identifier: Apache-2.0
//
// Hunyuan (Tencent 2025), without experts: llama with norms of the heads behind RoPE.
#include "converter/architectures/shared/architecture.h"

namespace mote::convert {

TransformerSpec read_hunyuan_v1_dense(const Source& source, Config& config) {
  TransformerSpec spec = read_llama_like(source, config, "hunyuan_v1_dense");
  config.value("eod_token_id");
  const std::string prefix = base_of(source, "model.") + "layers.{}.";
  for (LayerSpec& layer : spec.layers) {
    layer.attention.norm_after_rope = true;
    layer.names.q_norm = prefix + "self_attn.query_layernorm";
    layer.names.k_norm = prefix + "self_attn.key_layernorm";
  }
  return spec;
}

}  // namespace mote::convert
