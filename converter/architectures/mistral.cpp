// SPDX-License-Identifier: Apache-2.0
//
// Mistral (Jiang et al. 2023): llama with one sliding window for all layers.
#include "converter/architectures/shared/architecture.h"

namespace mote::convert {

TransformerSpec read_mistral(const Source& source, Config& config) {
  TransformerSpec spec = read_llama_like(source, config, "mistral");
  const uint32_t window = config.optional_size("sliding_window", 1, kMaxSize, 4096).value_or(0);
  for (LayerSpec& layer : spec.layers) layer.attention.window = window;
  return spec;
}

}  // namespace mote::convert
