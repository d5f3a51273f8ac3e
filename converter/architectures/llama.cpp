// SPDX-License-Identifier: Apache-2.0
//
// Llama (Touvron et al. 2023) and what it shares with its relatives.
#include <cmath>

#include "converter/architectures/shared/architecture.h"
#include "host/base/error.h"

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

AttentionSpec read_attention(Config& config, uint32_t width, const LlamaDefaults& defaults) {
  AttentionSpec attention;
  const uint32_t heads = attention.heads = config.size("num_attention_heads", 1, kMaxSize, defaults.heads);
  const char kKvHeads[] = "num_key_value_heads";
  if (!defaults.kv_heads_null && config.is_null(kKvHeads)) config.refuse("{} is null", kKvHeads);
  attention.kv_heads = config.optional_size(kKvHeads, 1, kMaxSize, defaults.kv_heads).value_or(heads);
  if (heads % attention.kv_heads != 0) {
    config.refuse("num_attention_heads {} is not a multiple of num_key_value_heads {}", heads,
                  attention.kv_heads);
  }
  const char kHeadDim[] = "head_dim";
  const bool null_refused = defaults.head_dim && !defaults.head_dim_null;
  const auto head_dim = null_refused ? config.size(kHeadDim, 1, kMaxHeadDim, *defaults.head_dim)
                                     : config.optional_size(kHeadDim, 1, kMaxHeadDim, defaults.head_dim);
  if (!head_dim && width % heads != 0) {
    config.refuse("hidden_size {} is not a multiple of num_attention_heads {}", width, heads);
  }
  attention.head_dim = head_dim.value_or(width / heads);
  if (attention.head_dim > kMaxHeadDim)
    config.refuse("heads of {}, at most {} are supported", attention.head_dim, kMaxHeadDim);
  if (uint64_t{heads} * attention.head_dim > kMaxSize)
    config.refuse("{} heads of {}", heads, attention.head_dim);
  attention.scale = static_cast<float>(1.0 / std::sqrt(attention.head_dim));
  attention.rope = 0;
  attention.qkv_bias = attention.o_bias =
      config.flag("attention_bias", defaults.has_attention_bias) && defaults.attention_bias;
  return attention;
}

LayerNames layer_names(const std::string& base) {
  const std::string prefix = base + "layers.{}.";
  LayerNames names;
  names.attention_norms.before = prefix + "input_layernorm";
  names.q = prefix + "self_attn.q_proj";
  names.k = prefix + "self_attn.k_proj";
  names.v = prefix + "self_attn.v_proj";
  names.o = prefix + "self_attn.o_proj";
  names.ffn_norms.before = prefix + "post_attention_layernorm";
  names.gate = prefix + "mlp.gate_proj";
  names.up = prefix + "mlp.up_proj";
  names.down = prefix + "mlp.down_proj";
  return names;
}

}  // namespace

TransformerSpec read_llama_like(const Source& source, Config& config, const LlamaDefaults& defaults) {
  const std::string base = base_of(source, "model.");
  TransformerSpec spec{};
  spec.vocab = config.size("vocab_size", 1, kMaxSize, defaults.vocab);
  spec.width = config.size("hidden_size", 1, kMaxSize, defaults.width);
  spec.context = config.size("max_position_embeddings", 1, kMaxSize, defaults.context);
  LayerSpec layer;
  layer.attention = read_attention(config, spec.width, defaults);
  if (defaults.activation_key != nullptr)
    read_activation(config, defaults.activation_key, defaults.activation, layer.ffn);
  if (defaults.ffn_width != 0)
    layer.ffn.width = config.size("intermediate_size", 1, kMaxSize, defaults.ffn_width);
  layer.ffn.bias = config.flag("mlp_bias", false) && defaults.mlp_bias;
  layer.names = layer_names(base);
  spec.repeat(layer, config.size("num_hidden_layers", 1, kMaxLayers, defaults.layers));
  spec.norm_eps = static_cast<float>(config.number(defaults.eps_key, defaults.eps));
  if (!defaults.own_ropes) {
    spec.ropes = {
        read_rope(config, layer.attention.head_dim, spec.context, rope_divisors(source), defaults.rope)};
  }
  spec.tied_embedding = config.flag("tie_word_embeddings", defaults.tied);
  spec.bos_id = config.token_id("bos_token_id", spec.vocab, defaults.bos_id);
  spec.optional_biases = source.format == "gguf";  // it has no key for them
  spec.names.embedding = base + "embed_tokens";
  spec.names.final_norm = base + "norm";
  spec.names.head = "lm_head";
  spec.names.ignored = {"rotary_emb.inv_freq", "rope_freqs.weight"};
  return spec;
}

TransformerSpec read_llama(const Source& source, Config& config) {
  return read_llama_like(source, config, "llama");
}

}  // namespace mote::convert
