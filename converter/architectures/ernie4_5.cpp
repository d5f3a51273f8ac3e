// SPDX-License-Identifier: Apache-2.0
//
// ERNIE 4.5 (Baidu 2025), without experts: llama with RoPE of neighbouring columns and, where asked for,
// biases everywhere.
#include "converter/architectures/architecture.h"

namespace mote::convert {

TransformerSpec read_ernie4_5(const Source& source, Config& config) {
  LlamaDefaults defaults{.vocab = 103424, .ffn_width = 3072, .context = 131072};
  defaults.width = 1024;
  defaults.layers = 18;
  defaults.heads = 16;
  defaults.kv_heads = 2;
  defaults.head_dim = 128;
  defaults.head_dim_null = true;
  defaults.eps = 1e-5;
  defaults.bos_id = 1;
  defaults.mlp_bias = defaults.attention_bias = false;
  defaults.tied = true;
  defaults.rope = {.theta = 5e5, .kind = RopeKind::interleaved};
  TransformerSpec spec = read_llama_like(source, config, defaults);
  const bool bias = config.flag("use_bias", false);
  for (LayerSpec& layer : spec.layers)
    layer.attention.qkv_bias = layer.attention.o_bias = layer.ffn.bias = bias;
  return spec;
}

}  // namespace mote::convert
