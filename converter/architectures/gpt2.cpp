// SPDX-License-Identifier: Apache-2.0
//
// GPT-2 (Radford et al. 2019): layer norms, learned positions, q, k and v in one matrix, matrices stored [in,
// out].
#include <cmath>

#include "converter/architectures/shared/architecture.h"
#include "host/base/error.h"

namespace mote::convert {
namespace {

void read_scales(Config& config, std::vector<LayerSpec>& layers) {
  const uint32_t head_dim = layers[0].attention.head_dim;
  const double scale = config.flag("scale_attn_weights", true) ? 1.0 / std::sqrt(head_dim) : 1.0;
  const bool by_layer = config.flag("scale_attn_by_inverse_layer_idx", false);
  for (size_t i = 0; i < layers.size(); ++i) {
    const double divisor = by_layer ? static_cast<double>(i + 1) : 1.0;
    layers[i].attention.scale = static_cast<float>(scale / divisor);
  }
}

}  // namespace

TransformerSpec read_gpt2(const Source& source, Config& config) {
  // The original checkpoints hold the bare model.
  const std::string base = source.tensors.count("wte.weight") != 0 ? "" : "transformer.";
  TransformerSpec spec = read_gpt_like(config, base, "gpt2");
  read_scales(config, spec.layers);
  spec.transposed = source.format == "hf";
  spec.names.ignored = {".attn.bias", ".attn.masked_bias"};  // causal masks of old checkpoints
  return spec;
}

}  // namespace mote::convert
