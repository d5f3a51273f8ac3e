// SPDX-License-Identifier: Apache-2.0
//
// Llama (Touvron et al. 2023) and what it shares with its relatives.
#include <cmath>

#include "converter/architectures/architecture.h"
#include "converter/error.h"

namespace mote::convert {
namespace {

std::vector<float> rope_divisors(const Source& source) {
  const auto found = source.tensors.find("rope_freqs.weight");
  if (found == source.tensors.end()) return {};
  if (found->second.rows() != 1 || found->second.cols() > kMaxHeadDim)
    fail("tensor rope_freqs.weight has a wrong shape");
  std::vector<float> divisors(found->second.cols());
  read_row(found->second, 0, divisors);
  return divisors;
}

AttentionSpec read_attention(Config& config, uint32_t width) {
  AttentionSpec attention;
  const uint32_t heads = attention.heads = config.size("num_attention_heads", 1, kMaxSize);
  attention.kv_heads = config.size("num_key_value_heads", 1, kMaxSize, heads);
  if (heads % attention.kv_heads != 0) {
    config.refuse("num_attention_heads {} is not a multiple of num_key_value_heads {}", heads,
                  attention.kv_heads);
  }
  if (!config.has("head_dim") && width % heads != 0) {
    config.refuse("hidden_size {} is not a multiple of num_attention_heads {}", width, heads);
  }
  attention.head_dim = config.size("head_dim", 1, kMaxHeadDim, width / heads);
  if (uint64_t{heads} * attention.head_dim > kMaxSize)
    config.refuse("{} heads of {}", heads, attention.head_dim);
  attention.scale = static_cast<float>(1.0 / std::sqrt(attention.head_dim));
  attention.rope = 0;
  attention.qkv_bias = attention.o_bias = config.flag("attention_bias", false);
  return attention;
}

LayerNames layer_names() {
  LayerNames names;
  names.attention_norms.before = "model.layers.{}.input_layernorm";
  names.q = "model.layers.{}.self_attn.q_proj";
  names.k = "model.layers.{}.self_attn.k_proj";
  names.v = "model.layers.{}.self_attn.v_proj";
  names.o = "model.layers.{}.self_attn.o_proj";
  names.ffn_norms.before = "model.layers.{}.post_attention_layernorm";
  names.gate = "model.layers.{}.mlp.gate_proj";
  names.up = "model.layers.{}.mlp.up_proj";
  names.down = "model.layers.{}.mlp.down_proj";
  return names;
}

}  // namespace

TransformerSpec read_llama_like(const Source& source, Config& config) {
  TransformerSpec spec{};
  spec.vocab = config.size("vocab_size", 1, kMaxSize);
  spec.width = config.size("hidden_size", 1, kMaxSize);
  spec.context = config.size("max_position_embeddings", 1, kMaxSize);
  LayerSpec layer;
  layer.attention = read_attention(config, spec.width);
  layer.ffn = {Ffn::gated, read_activation(config, "hidden_act", "silu"),
               config.size("intermediate_size", 1, kMaxSize), config.flag("mlp_bias", false)};
  layer.names = layer_names();
  spec.repeat(layer, config.size("num_hidden_layers", 1, kMaxLayers));
  spec.norm_eps = static_cast<float>(config.number("rms_norm_eps", 1e-6));
  spec.ropes = {read_rope(config, layer.attention.head_dim, spec.context, rope_divisors(source))};
  spec.tied_embedding = config.flag("tie_word_embeddings", false);
  spec.bos_id = config.token_id("bos_token_id", spec.vocab);
  spec.names.embedding = "model.embed_tokens";
  spec.names.final_norm = "model.norm";
  spec.names.head = "lm_head";
  spec.names.ignored = {"rotary_emb.inv_freq", "rope_freqs.weight"};
  return spec;
}

TransformerSpec read_llama(const Source& source, Config& config) { return read_llama_like(source, config); }

}  // namespace mote::convert
