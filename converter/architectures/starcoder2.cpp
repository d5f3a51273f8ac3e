// SPDX-License-Identifier: Apache-2.0
//
// StarCoder2 (Lozhkov et al. 2024): llama with layer norms, biases, a plain feed-forward and one sliding
// window.
#include "converter/architectures/shared/architecture.h"

namespace mote::convert {

TransformerSpec read_starcoder2(const Source& source, Config& config) {
  TransformerSpec spec = read_llama_like(source, config, "starcoder2");
  const bool bias = config.flag("use_bias", true);
  const uint32_t window = config.optional_size("sliding_window", 1, kMaxSize).value_or(0);
  for (const char* unused : {"mlp_type", "norm_type"}) config.value(unused);
  const std::string prefix = base_of(source, "model.") + "layers.{}.";
  for (LayerSpec& layer : spec.layers) {
    layer.attention.window = window;
    layer.attention.qkv_bias = layer.attention.o_bias = layer.ffn.bias = bias;
    layer.ffn.kind = Ffn::plain;
    layer.names.up = prefix + "mlp.c_fc";
    layer.names.down = prefix + "mlp.c_proj";
  }
  spec.norm = NormKind::layer;
  spec.norm_bias = true;
  return spec;
}

}  // namespace mote::convert
