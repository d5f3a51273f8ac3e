// SPDX-License-Identifier: Apache-2.0
//
// Qwen3 (dense): llama with an rms norm of each head of q and k.
#include "converter/architectures/architecture.h"

namespace mote::convert {

TransformerSpec read_qwen3(const Source& source, Config& config) {
  LlamaDefaults defaults{.vocab = 151936, .ffn_width = 22016, .context = 32768};
  defaults.kv_heads = 32;
  defaults.head_dim = 128;
  defaults.mlp_bias = false;
  TransformerSpec spec = read_llama_like(source, config, defaults);
  read_layer_windows(config, spec.layers);
  const std::string base = base_of(source, "model.");
  for (LayerSpec& layer : spec.layers) {
    layer.names.q_norm = base + "layers.{}.self_attn.q_norm";
    layer.names.k_norm = base + "layers.{}.self_attn.k_norm";
  }
  return spec;
}

}  // namespace mote::convert
