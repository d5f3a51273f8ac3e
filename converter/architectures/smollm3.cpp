// SPDX-License-Identifier: Apache-2.0
//
// SmolLM3 (Bakouch et al. 2025): llama without RoPE in every fourth layer.
#include <nlohmann/json.hpp>

#include "converter/architectures/shared/architecture.h"

namespace mote::convert {

TransformerSpec read_smollm3(const Source& source, Config& config) {
  TransformerSpec spec = read_llama_like(source, config, "smollm3");
  const uint32_t interval = config.size("no_rope_layer_interval", 1, kMaxLayers, 4);
  const nlohmann::json* turned = config.value("no_rope_layers");
  const size_t layers = spec.layers.size();
  if (turned != nullptr && (!turned->is_array() || turned->size() != layers))
    config.refuse_value("no_rope_layers", turned, fmt::format("a list of {} numbers", layers));
  for (size_t i = 0; i < layers; ++i) {
    bool turns = (i + 1) % interval != 0;
    if (turned != nullptr) {
      const nlohmann::json& value = (*turned)[i];
      if (value != 0 && value != 1) config.refuse_value("no_rope_layers", turned, "a list of 0 and 1");
      turns = value == 1;
    }
    if (!turns) spec.layers[i].attention.rope = kNone;
  }
  const bool sliding = config.flag("use_sliding_window", false);
  const auto window = config.optional_size("sliding_window", 1, kMaxSize);
  const std::vector<bool> slides = read_sliding_layers(config, layers, [&](uint32_t layer) {
    return sliding && window && spec.layers[layer].attention.rope == kNone;
  });
  for (size_t i = 0; i < layers; ++i) {
    if (slides[i]) spec.layers[i].attention.window = window.value_or(0);
  }
  return spec;
}

}  // namespace mote::convert
