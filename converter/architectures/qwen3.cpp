// SPDX-License-Identifier: Apache-2.0
//
// Qwen3 (dense): llama with an rms norm of each head of q and k.
#include "converter/architectures/shared/architecture.h"

namespace mote::convert {

TransformerSpec read_qwen3(const Source& source, Config& config) {
  TransformerSpec spec = read_llama_like(source, config, "qwen3");
  read_layer_windows(config, spec.layers);
  const std::string base = base_of(source, "model.");
  for (LayerSpec& layer : spec.layers) {
    layer.names.q_norm = base + "layers.{}.self_attn.q_norm";
    layer.names.k_norm = base + "layers.{}.self_attn.k_norm";
  }
  return spec;
}

}  // namespace mote::convert
