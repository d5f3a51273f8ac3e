// SPDX-License-Identifier: Apache-2.0
//
// Qwen2 and Qwen2.5: llama with biases on q, k and v and, where asked for, sliding windows in the upper
// layers.
#include "converter/architectures/shared/architecture.h"

namespace mote::convert {

void read_layer_windows(Config& config, std::vector<LayerSpec>& layers) {
  const bool sliding = config.flag("use_sliding_window", false);
  const uint32_t window = config.optional_size("sliding_window", sliding ? 1 : 0, kMaxSize, 4096).value_or(0);
  const uint32_t first = config.size("max_window_layers", 0, kMaxSize, 28);
  const std::vector<bool> slides =
      read_sliding_layers(config, layers.size(), [&](uint32_t layer) { return layer >= first; });
  for (size_t layer = 0; layer < layers.size(); ++layer) {
    if (slides[layer] && sliding) layers[layer].attention.window = window;
  }
}

TransformerSpec read_qwen2(const Source& source, Config& config) {
  TransformerSpec spec = read_llama_like(source, config, "qwen2");
  read_layer_windows(config, spec.layers);
  for (LayerSpec& layer : spec.layers) layer.attention.qkv_bias = true;
  return spec;
}

}  // namespace mote::convert
