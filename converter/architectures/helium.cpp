// SPDX-License-Identifier: Apache-2.0
//
// Helium (Kyutai 2025): llama with RoPE of neighbouring columns.
#include "converter/architectures/architecture.h"

namespace mote::convert {

TransformerSpec read_helium(const Source& source, Config& config) {
  LlamaDefaults defaults{.vocab = 48000, .ffn_width = 7040, .context = 4096};
  defaults.width = 2560;
  defaults.layers = 24;
  defaults.heads = 20;
  defaults.kv_heads = 20;
  defaults.kv_heads_null = false;
  defaults.head_dim = 128;
  defaults.eps = 1e-8;
  defaults.bos_id = 1;
  defaults.rope = {.theta = 1e5, .kind = RopeKind::interleaved};
  TransformerSpec spec = read_llama_like(source, config, defaults);
  for (LayerSpec& layer : spec.layers) layer.attention.o_bias = false;
  return spec;
}

}  // namespace mote::convert
