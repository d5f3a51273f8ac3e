// SPDX-License-Identifier: Apache-2.0
//
// GPT (Radford et al. 2018): GPT-2 with its norms behind the sums and none at the end.
#include "converter/architectures/architecture.h"

namespace mote::convert {

TransformerSpec read_openai_gpt(const Source& source, Config& config) {
  const std::string base = base_of(source, "transformer."), prefix = base + "h.{}.";
  TransformerSpec spec{};
  spec.vocab = config.size("vocab_size", 1, kMaxSize, 40478);
  spec.width = config.size("n_embd", 1, kMaxSize, 768);
  spec.context = config.size("n_positions", 1, kMaxSize, 512);
  LayerSpec layer;
  layer.attention =
      equal_heads(config, spec.width, config.size("n_head", 1, kMaxSize, 12), "n_embd", "n_head");
  // The library's table for this model has GPT-2's approximation under the name gelu.
  Activation activation = read_activation(config, "afn", "gelu");
  if (activation == Activation::gelu) activation = Activation::gelu_tanh;
  layer.ffn = {Ffn::plain, activation, 4 * spec.width, true};
  layer.names =
      post_norm_names(prefix, {"", "", "", "attn.c_proj", "ln_1", "mlp.c_fc", "mlp.c_proj", "ln_2"});
  layer.names.q = layer.names.k = layer.names.v = "";
  layer.names.qkv = prefix + "attn.c_attn";
  spec.repeat(layer, config.size("n_layer", 1, kMaxLayers, 12));
  spec.norm = NormKind::layer;
  spec.norm_eps = static_cast<float>(config.number("layer_norm_epsilon", 1e-5));
  spec.norm_bias = true;
  spec.tied_embedding = config.flag("tie_word_embeddings", true);
  spec.transposed = true;
  spec.bos_id = config.token_id("bos_token_id", spec.vocab);
  spec.names.embedding = base + "tokens_embed";
  spec.names.positions = base + "positions_embed";
  spec.names.head = "lm_head";
  spec.names.ignored = {".attn.bias", "position_ids"};
  return spec;
}

}  // namespace mote::convert
