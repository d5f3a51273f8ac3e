// SPDX-License-Identifier: Apache-2.0
//
// Falcon (Almazrouei et al. 2023), three forms of it: one head of keys for all, groups of heads (the new
// decoder), or as many as heads; RoPE or ALiBi.
#include "converter/architectures/architecture.h"
#include "schema/bf16.h"

namespace mote::convert {
namespace {

AttentionSpec read_attention(Config& config, uint32_t width, bool is_new, bool bias) {
  const uint32_t heads = config.size("num_attention_heads", 1, kMaxSize, 71);
  AttentionSpec attention = equal_heads(config, width, heads, "hidden_size", "num_attention_heads");
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

/// The names of the weights; which norms there are decides about the form.
void set_norms(Config& config, bool is_new, const std::string& prefix, LayerSpec& layer) {
  LayerNames& names = layer.names;
  names.qkv = prefix + "self_attention.query_key_value";
  names.o = prefix + "self_attention.dense";
  names.up = prefix + "mlp.dense_h_to_4h";
  names.down = prefix + "mlp.dense_4h_to_h";
  names.attention_norms.before = prefix + "input_layernorm";
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
  TransformerSpec spec{};
  spec.vocab = config.size("vocab_size", 1, kMaxSize, 65024);
  const uint32_t width = config.size("hidden_size", 1, kMaxSize, 4544);
  spec.width = config.optional_size("n_embed", 1, kMaxSize).value_or(width);
  spec.context = config.size("max_position_embeddings", 1, kMaxSize, 2048);
  LayerSpec layer;
  const bool is_new = config.flag("new_decoder_architecture", false), bias = config.flag("bias", false);
  layer.attention = read_attention(config, spec.width, is_new, bias);
  layer.ffn = {Ffn::plain, read_activation(config, "activation", "gelu"),
               config.optional_size("ffn_hidden_size", 1, kMaxSize).value_or(4 * spec.width), bias};
  set_norms(config, is_new, base + "h.{}.", layer);
  spec.repeat(layer, config.size("num_hidden_layers", 1, kMaxLayers, 32));
  RopeSpec rope = read_rope(config, layer.attention.head_dim, spec.context, {});
  if (layer.attention.rope != kNone) spec.ropes = {std::move(rope)};
  spec.norm = NormKind::layer;
  spec.norm_eps = static_cast<float>(config.number("layer_norm_epsilon", 1e-5));
  spec.norm_bias = true;
  spec.tied_embedding = config.flag("tie_word_embeddings", true);
  spec.bos_id = config.token_id("bos_token_id", spec.vocab, 11);
  spec.names.embedding = base + "word_embeddings";
  spec.names.final_norm = base + "ln_f";
  spec.names.head = "lm_head";
  return spec;
}

}  // namespace mote::convert
