// SPDX-License-Identifier: Apache-2.0
//
// GPT-J (Wang and Komatsuzaki 2021): attention and feed-forward of one norm side by side, RoPE of
// neighbouring columns, a head with a bias.
#include "converter/architectures/shared/architecture.h"

namespace mote::convert {

TransformerSpec read_gptj(const Source& source, Config& config) {
  const std::string base = base_of(source, "transformer.");
  TransformerSpec spec = read_gpt_like(config, base, "gptj");
  for (LayerSpec& layer : spec.layers) {
    layer.attention.qkv_bias = layer.attention.o_bias = false;
    layer.attention.rope = 0;
    layer.branches = Branches::parallel;
  }
  const uint32_t rotated = config.size("rotary_dim", 2, kMaxHeadDim, 64);
  spec.ropes = {read_rope(config, rotated, spec.context, {}, {.kind = RopeKind::interleaved})};
  spec.head.output_bias = "lm_head.bias";
  spec.names.ignored = {".attn.bias", ".attn.masked_bias"};  // causal masks of old checkpoints
  return spec;
}

}  // namespace mote::convert
