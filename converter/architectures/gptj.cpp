// SPDX-License-Identifier: Apache-2.0
//
// GPT-J (Wang and Komatsuzaki 2021): attention and feed-forward of one norm side by side, RoPE of
// neighbouring columns, a head with a bias.
#include "converter/architectures/architecture.h"

namespace mote::convert {

TransformerSpec read_gptj(const Source& source, Config& config) {
  const std::string base = base_of(source, "transformer."), prefix = base + "h.{}.";
  TransformerSpec spec{};
  spec.vocab = config.size("vocab_size", 1, kMaxSize, 50400);
  spec.width = config.size("n_embd", 1, kMaxSize, 4096);
  spec.context = config.size("n_positions", 1, kMaxSize, 2048);
  LayerSpec layer;
  layer.attention =
      equal_heads(config, spec.width, config.size("n_head", 1, kMaxSize, 16), "n_embd", "n_head");
  layer.attention.qkv_bias = layer.attention.o_bias = false;
  layer.attention.rope = 0;
  layer.ffn = {Ffn::plain, read_activation(config, "activation_function", "gelu_new"),
               config.optional_size("n_inner", 1, kMaxSize).value_or(4 * spec.width), true};
  layer.branches = Branches::parallel;
  layer.names.attention_norms.before = prefix + "ln_1";
  layer.names.q = prefix + "attn.q_proj";
  layer.names.k = prefix + "attn.k_proj";
  layer.names.v = prefix + "attn.v_proj";
  layer.names.o = prefix + "attn.out_proj";
  layer.names.up = prefix + "mlp.fc_in";
  layer.names.down = prefix + "mlp.fc_out";
  spec.repeat(layer, config.size("n_layer", 1, kMaxLayers, 28));
  const uint32_t rotated = config.size("rotary_dim", 2, kMaxHeadDim, 64);
  spec.ropes = {read_rope(config, rotated, spec.context, {}, {.kind = RopeKind::interleaved})};
  spec.norm = NormKind::layer;
  spec.norm_eps = static_cast<float>(config.number("layer_norm_epsilon", 1e-5));
  spec.norm_bias = true;
  spec.tied_embedding = config.flag("tie_word_embeddings", false);
  spec.bos_id = config.token_id("bos_token_id", spec.vocab, 50256);
  spec.names.embedding = base + "wte";
  spec.names.final_norm = base + "ln_f";
  spec.names.head = "lm_head";
  spec.head.output_bias = "lm_head.bias";
  spec.names.ignored = {".attn.bias", ".attn.masked_bias"};  // causal masks of old checkpoints
  return spec;
}

}  // namespace mote::convert
