// SPDX-License-Identifier: Apache-2.0
//
// GPT-NeoX (Black et al. 2022), of Pythia: attention and feed-forward side by side, each with its own norm,
// q, k and v of each head next to each other, RoPE of the first columns.
#include "converter/architectures/shared/architecture.h"

namespace mote::convert {

TransformerSpec read_gpt_neox(const Source& source, Config& config) {
  const std::string base = base_of(source, "gpt_neox.");
  TransformerSpec spec = read_gpt_like(config, base, "gpt_neox");
  const AttentionSpec& first = spec.layers[0].attention;
  // Derived values that newer libraries write.
  if (config.optional_size("head_dim", 1, kMaxSize).value_or(first.head_dim) != first.head_dim)
    config.refuse("head_dim is not hidden_size over num_attention_heads");
  if (config.optional_size("num_key_value_heads", 1, kMaxSize).value_or(first.heads) != first.heads)
    config.refuse("num_key_value_heads is not num_attention_heads");
  const bool bias = config.flag("attention_bias", true);
  const bool parallel = config.flag("use_parallel_residual", true);
  for (LayerSpec& layer : spec.layers) {
    layer.attention.qkv_bias = layer.attention.o_bias = bias;
    layer.attention.qkv_by_group = true;
    layer.attention.rope = 0;
    layer.branches = parallel ? Branches::parallel : Branches::serial;
  }
  const RopeDefaults rope{.partial = 0.25, .theta_key = "rotary_emb_base", .partial_key = "rotary_pct"};
  spec.ropes = {read_rope(config, first.head_dim, spec.context, {}, rope)};
  spec.names.ignored = {".attention.bias", ".attention.masked_bias", "rotary_emb.inv_freq"};
  return spec;
}

}  // namespace mote::convert
