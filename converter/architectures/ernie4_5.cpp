// SPDX-License-Identifier: Apache-2.0
//
// ERNIE 4.5 (Baidu 2025), without experts: llama with RoPE of neighbouring columns and, where asked for,
// biases everywhere.
#include "converter/architectures/shared/architecture.h"

namespace mote::convert {

TransformerSpec read_ernie4_5(const Source& source, Config& config) {
  TransformerSpec spec = read_llama_like(source, config, "ernie4_5");
  const bool bias = config.flag("use_bias", false);
  for (LayerSpec& layer : spec.layers)
    layer.attention.qkv_bias = layer.attention.o_bias = layer.ffn.bias = bias;
  return spec;
}

}  // namespace mote::convert
