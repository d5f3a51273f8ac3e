// SPDX-License-Identifier: Apache-2.0
//
// GPT-NeoX (Black et al. 2022), of Pythia: attention and feed-forward side by side, each with its own norm,
// q, k and v of each head next to each other, RoPE of the first columns.
#include "converter/architectures/architecture.h"

namespace mote::convert {

TransformerSpec read_gpt_neox(const Source& source, Config& config) {
  const std::string base = base_of(source, "gpt_neox."), prefix = base + "layers.{}.";
  TransformerSpec spec{};
  spec.vocab = config.size("vocab_size", 1, kMaxSize, 50432);
  spec.width = config.size("hidden_size", 1, kMaxSize, 6144);
  spec.context = config.size("max_position_embeddings", 1, kMaxSize, 2048);
  LayerSpec layer;
  AttentionSpec& attention = layer.attention;
  attention = equal_heads(config, spec.width, config.size("num_attention_heads", 1, kMaxSize, 64),
                          "hidden_size", "num_attention_heads");
  // Derived values that newer libraries write.
  if (config.optional_size("head_dim", 1, kMaxSize).value_or(attention.head_dim) != attention.head_dim)
    config.refuse("head_dim is not hidden_size over num_attention_heads");
  if (config.optional_size("num_key_value_heads", 1, kMaxSize).value_or(attention.heads) != attention.heads)
    config.refuse("num_key_value_heads is not num_attention_heads");
  attention.qkv_bias = attention.o_bias = config.flag("attention_bias", true);
  attention.qkv_by_group = true;
  attention.rope = 0;
  layer.ffn = {Ffn::plain, read_activation(config, "hidden_act", "gelu"),
               config.size("intermediate_size", 1, kMaxSize, 24576), true};
  layer.branches = config.flag("use_parallel_residual", true) ? Branches::parallel : Branches::serial;
  layer.names.attention_norms.before = prefix + "input_layernorm";
  layer.names.qkv = prefix + "attention.query_key_value";
  layer.names.o = prefix + "attention.dense";
  layer.names.ffn_norms.before = prefix + "post_attention_layernorm";
  layer.names.up = prefix + "mlp.dense_h_to_4h";
  layer.names.down = prefix + "mlp.dense_4h_to_h";
  spec.repeat(layer, config.size("num_hidden_layers", 1, kMaxLayers, 44));
  const RopeDefaults rope{.partial = 0.25, .theta_key = "rotary_emb_base", .partial_key = "rotary_pct"};
  spec.ropes = {read_rope(config, attention.head_dim, spec.context, {}, rope)};
  spec.norm = NormKind::layer;
  spec.norm_eps = static_cast<float>(config.number("layer_norm_eps", 1e-5));
  spec.norm_bias = true;
  spec.tied_embedding = config.flag("tie_word_embeddings", false);
  spec.bos_id = config.token_id("bos_token_id", spec.vocab, 0);
  spec.names.embedding = base + "embed_in";
  spec.names.final_norm = base + "final_layer_norm";
  spec.names.head = "embed_out";
  spec.names.ignored = {".attention.bias", ".attention.masked_bias", "rotary_emb.inv_freq"};
  return spec;
}

}  // namespace mote::convert
