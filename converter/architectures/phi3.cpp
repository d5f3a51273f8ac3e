// SPDX-License-Identifier: Apache-2.0
//
// Phi-3 and Phi-4 (Abdin et al. 2024): llama with fused q, k and v, fused gate and up, one sliding window
// and, for long contexts, LongRoPE.
#include "converter/architectures/shared/architecture.h"

namespace mote::convert {

TransformerSpec read_phi3(const Source& source, Config& config) {
  TransformerSpec spec = read_llama_like(source, config, "phi3");
  const uint32_t window = config.optional_size("sliding_window", 1, kMaxSize).value_or(0);
  const std::string prefix = base_of(source, "model.") + "layers.{}.";
  for (LayerSpec& layer : spec.layers) {
    layer.attention.window = window;
    layer.names.q = layer.names.k = layer.names.v = layer.names.gate = layer.names.up = "";
    layer.names.qkv = prefix + "self_attn.qkv_proj";
    layer.names.gate_up = prefix + "mlp.gate_up_proj";
  }
  return spec;
}

}  // namespace mote::convert
