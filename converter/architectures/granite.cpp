// SPDX-License-Identifier: Apache-2.0
//
// Granite (IBM 2024): llama with multipliers of the embedding, the branches, the scores and the logits.
#include "converter/architectures/shared/architecture.h"

namespace mote::convert {

TransformerSpec read_granite(const Source& source, Config& config) {
  TransformerSpec spec = read_llama_like(source, config, "granite");
  read_granite_multipliers(config, spec);
  return spec;
}

void read_granite_multipliers(Config& config, TransformerSpec& spec) {
  spec.embedding_multiplier = static_cast<float>(config.number("embedding_multiplier", 1.0));
  spec.logit_multiplier = static_cast<float>(1.0 / config.number("logits_scaling", 1.0));
  const auto residual = static_cast<float>(config.number("residual_multiplier", 1.0));
  const auto scale = static_cast<float>(config.number("attention_multiplier", 1.0));
  for (LayerSpec& layer : spec.layers) {
    layer.residual_multiplier = residual;
    layer.attention.scale = scale;
  }
}

}  // namespace mote::convert
