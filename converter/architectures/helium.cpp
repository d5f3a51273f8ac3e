// SPDX-License-Identifier: Apache-2.0
//
// Helium (Kyutai 2025): llama with RoPE of neighbouring columns.
#include "converter/architectures/shared/architecture.h"

namespace mote::convert {

TransformerSpec read_helium(const Source& source, Config& config) {
  TransformerSpec spec = read_llama_like(source, config, "helium");
  for (LayerSpec& layer : spec.layers) layer.attention.o_bias = false;
  return spec;
}

}  // namespace mote::convert
