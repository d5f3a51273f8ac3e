// SPDX-License-Identifier: Apache-2.0
//
// GPT (Radford et al. 2018): GPT-2 with its norms behind the sums and none at the end.
#include "converter/architectures/shared/architecture.h"

namespace mote::convert {

TransformerSpec read_openai_gpt(const Source& source, Config& config) {
  const std::string base = base_of(source, "transformer.");
  TransformerSpec spec = read_gpt_like(config, base, "openai-gpt");
  for (LayerSpec& layer : spec.layers) {
    // The library's table for this model has GPT-2's approximation under the name gelu.
    if (layer.ffn.activation == Activation::gelu) layer.ffn.activation = Activation::gelu_tanh;
    put_norms_behind(layer.names);
  }
  spec.transposed = true;
  spec.names.ignored = {".attn.bias", "position_ids"};
  return spec;
}

}  // namespace mote::convert
