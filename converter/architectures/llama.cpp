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

}  // namespace

TransformerSpec read_llama_like(const Source& source, Config& config) {
  TransformerSpec spec{};
  spec.vocab = config.size("vocab_size", 1, kMaxSize);
  spec.width = config.size("hidden_size", 1, kMaxSize);
  spec.layers = config.size("num_hidden_layers", 1, kMaxLayers);
  spec.context = config.size("max_position_embeddings", 1, kMaxSize);
  spec.ffn_width = config.size("intermediate_size", 1, kMaxSize);
  spec.heads = config.size("num_attention_heads", 1, kMaxSize);
  spec.kv_heads = config.size("num_key_value_heads", 1, kMaxSize, spec.heads);
  if (spec.heads % spec.kv_heads != 0) {
    config.refuse("num_attention_heads {} is not a multiple of num_key_value_heads {}", spec.heads,
                  spec.kv_heads);
  }
  if (!config.has("head_dim") && spec.width % spec.heads != 0) {
    config.refuse("hidden_size {} is not a multiple of num_attention_heads {}", spec.width, spec.heads);
  }
  spec.head_dim = config.size("head_dim", 1, kMaxHeadDim, spec.width / spec.heads);
  if (uint64_t{spec.heads} * spec.head_dim > kMaxSize)
    config.refuse("{} heads of {}", spec.heads, spec.head_dim);
  spec.norm_eps = static_cast<float>(config.number("rms_norm_eps", 1e-6));
  spec.activation = read_activation(config, "hidden_act", "silu");
  spec.rope = read_rope(config, spec.head_dim, spec.context, rope_divisors(source));
  spec.windows.assign(spec.layers, 0);
  spec.attention_scales.assign(spec.layers, static_cast<float>(1.0 / std::sqrt(spec.head_dim)));
  spec.tied_embedding = config.flag("tie_word_embeddings", false);
  spec.bos_id = config.token_id("bos_token_id", spec.vocab);
  spec.qkv_bias = spec.o_bias = config.flag("attention_bias", false);
  spec.ffn_bias = config.flag("mlp_bias", false);

  WeightNames& names = spec.names;
  names.embedding = "model.embed_tokens";
  names.final_norm = "model.norm";
  names.head = "lm_head";
  names.attention_norm = "model.layers.{}.input_layernorm";
  names.q = "model.layers.{}.self_attn.q_proj";
  names.k = "model.layers.{}.self_attn.k_proj";
  names.v = "model.layers.{}.self_attn.v_proj";
  names.o = "model.layers.{}.self_attn.o_proj";
  names.ffn_norm = "model.layers.{}.post_attention_layernorm";
  names.gate = "model.layers.{}.mlp.gate_proj";
  names.up = "model.layers.{}.mlp.up_proj";
  names.down = "model.layers.{}.mlp.down_proj";
  names.ignored = {"rotary_emb.inv_freq", "rope_freqs.weight"};
  return spec;
}

TransformerSpec read_llama(const Source& source, Config& config) { return read_llama_like(source, config); }

}  // namespace mote::convert
