// SPDX-License-Identifier: Apache-2.0
//
// BLOOM (Le Scao et al. 2022): ALiBi instead of positions, a norm behind the embedding, q, k and v of each
// head next to each other.
#include "converter/architectures/architecture.h"

namespace mote::convert {

TransformerSpec read_bloom(const Source& source, Config& config) {
  const std::string base = base_of(source, "transformer."), prefix = base + "h.{}.";
  TransformerSpec spec{};
  spec.vocab = config.size("vocab_size", 1, kMaxSize, 250880);
  const uint32_t width = config.size("hidden_size", 1, kMaxSize, 64);
  spec.width = config.optional_size("n_embed", 1, kMaxSize).value_or(width);
  // ALiBi has no end; the length of the texts that it was trained on is not a key of the class.
  spec.context = config.size("seq_length", 1, kMaxSize, 2048);
  const uint32_t heads = config.size("n_head", 1, kMaxSize, 8);
  if (config.optional_size("num_attention_heads", 1, kMaxSize).value_or(heads) != heads)
    config.refuse("num_attention_heads and n_head contradict each other");
  LayerSpec layer;
  layer.attention = equal_heads(config, spec.width, heads, "hidden_size", "n_head");
  layer.attention.qkv_by_group = true;
  layer.attention.slopes = alibi_slopes(heads);
  layer.ffn = {Ffn::plain, Activation::gelu_tanh, 4 * spec.width, true};
  layer.names.attention_norms.before = prefix + "input_layernorm";
  layer.names.qkv = prefix + "self_attention.query_key_value";
  layer.names.o = prefix + "self_attention.dense";
  layer.names.ffn_norms.before = prefix + "post_attention_layernorm";
  layer.names.up = prefix + "mlp.dense_h_to_4h";
  layer.names.down = prefix + "mlp.dense_4h_to_h";
  spec.repeat(layer, config.size("n_layer", 1, kMaxLayers, 2));
  require_flag(config, "apply_residual_connection_post_layernorm", false);
  for (const char* unused :
       {"pretraining_tp", "slow_but_exact", "attention_softmax_in_fp32", "offset_alibi",
        "bias_dropout_fusion", "masked_softmax_fusion", "skip_bias_add", "skip_bias_add_qkv", "unk_token_id"})
    config.value(unused);
  spec.norm = NormKind::layer;
  spec.norm_eps = static_cast<float>(config.number("layer_norm_epsilon", 1e-5));
  spec.norm_bias = true;
  spec.tied_embedding = config.flag("tie_word_embeddings", true);
  spec.bos_id = config.token_id("bos_token_id", spec.vocab, 1);
  spec.names.embedding = base + "word_embeddings";
  spec.names.embedding_norm = base + "word_embeddings_layernorm";
  spec.names.final_norm = base + "ln_f";
  spec.names.head = "lm_head";
  return spec;
}

}  // namespace mote::convert
