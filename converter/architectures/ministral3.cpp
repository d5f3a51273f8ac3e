// SPDX-License-Identifier: Apache-2.0
//
// Ministral 3 (Mistral AI 2025): Mistral whose queries grow with the logarithm of the position.
#include "converter/architectures/shared/architecture.h"

namespace mote::convert {

TransformerSpec read_ministral3(const Source& source, Config& config) {
  if (!config.has("rope_parameters") && !config.has("rope_scaling"))
    config.refuse("rope_parameters is missing");
  TransformerSpec spec = read_llama_like(source, config, "ministral3");
  const uint32_t window = config.optional_size("sliding_window", 1, kMaxSize).value_or(0);
  RopeSpec& keys = spec.ropes[0];
  RopeSpec queries = keys;
  keys.growth = 0.0f;
  keys.growth_every = 1;
  spec.ropes.push_back(std::move(queries));
  for (LayerSpec& layer : spec.layers) {
    layer.attention.window = window;
    layer.attention.query_rope = 1;
  }
  return spec;
}

}  // namespace mote::convert
