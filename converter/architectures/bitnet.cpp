// SPDX-License-Identifier: Apache-2.0
//
// BitNet b1.58 (Ma et al. 2024): llama with ternary weights, activations rounded to 8 bits, norms before the
// last linear of each branch and a squared relu.
#include "converter/architectures/shared/architecture.h"

namespace mote::convert {

TransformerSpec read_bitnet(const Source& source, Config& config) {
  TransformerSpec spec = read_llama_like(source, config, "bitnet");
  // The reader has heeded the rest of it. Without it the original's linears are plain ones.
  spec.rounds_activations = config.value("quantization_config") != nullptr;
  const std::string prefix = base_of(source, "model.") + "layers.{}.";
  for (LayerSpec& layer : spec.layers) {
    layer.names.o_norm = prefix + "self_attn.attn_sub_norm";
    layer.names.down_norm = prefix + "mlp.ffn_sub_norm";
  }
  return spec;
}

}  // namespace mote::convert
