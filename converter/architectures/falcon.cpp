// SPDX-License-Identifier: Apache-2.0
//
// Falcon (Almazrouei et al. 2023), three forms of it: one head of keys for all, groups of heads (the new
// decoder), or as many as heads; RoPE or ALiBi.
#include "converter/architectures/shared/architecture.h"
#include "schema/bf16.h"

namespace mote::convert {
namespace {

/// `attention` of equal heads, as Falcon's keys change it.
AttentionSpec read_attention(Config& config, AttentionSpec attention, bool is_new, bool bias) {
  const uint32_t heads = attention.heads;
  const uint32_t groups = config.optional_size("num_kv_heads", 1, kMaxSize).value_or(heads);
  const bool one_of_all = config.flag("multi_query", true) && !is_new;
  attention.kv_heads = one_of_all ? 1 : is_new ? groups : heads;
  if (heads % attention.kv_heads != 0)
    config.refuse("num_attention_heads {} is not a multiple of num_kv_heads {}", heads, attention.kv_heads);
  attention.qkv_by_group = !one_of_all;
  attention.qkv_bias = attention.o_bias = bias;
  if (!config.flag("alibi", false)) {
    attention.rope = 0;
    return attention;
  }
  for (const float slope : alibi_slopes(heads))
    attention.slopes.push_back(f32_from_bf16(bf16_from_f32(slope)));
  attention.slopes_in_bf16 = true;
  return attention;
}

/// Which norms there are decides about the form.
void set_norms(Config& config, bool is_new, const std::string& prefix, LayerSpec& layer) {
  LayerNames& names = layer.names;
  const bool parallel = config.flag("parallel_attn", true);
  const uint32_t norms = config.optional_size("num_ln_in_parallel_attn", 1, 2).value_or(is_new ? 2 : 1);
  if (!parallel) {
    if (is_new) config.refuse("new_decoder_architecture without parallel_attn is not supported");
    names.ffn_norms.before = prefix + "post_attention_layernorm";
    return;
  }
  layer.branches = Branches::parallel;
  if (norms == 1) return;
  if (!is_new) config.refuse("num_ln_in_parallel_attn 2 without new_decoder_architecture is not supported");
  names.attention_norms.before = prefix + "ln_attn";
  names.ffn_norms.before = prefix + "ln_mlp";
}

}  // namespace

TransformerSpec read_falcon(const Source& source, Config& config) {
  const std::string base = base_of(source, "transformer.");
  TransformerSpec spec = read_gpt_like(config, base, "falcon");
  LayerSpec layer = spec.layers[0];
  const bool is_new = config.flag("new_decoder_architecture", false), bias = config.flag("bias", false);
  layer.attention = read_attention(config, layer.attention, is_new, bias);
  layer.ffn.bias = bias;
  set_norms(config, is_new, base + "h.{}.", layer);
  spec.repeat(layer, static_cast<uint32_t>(spec.layers.size()));
  RopeSpec rope = read_rope(config, layer.attention.head_dim, spec.context, {});
  if (layer.attention.rope != kNone) spec.ropes = {std::move(rope)};
  return spec;
}

}  // namespace mote::convert
