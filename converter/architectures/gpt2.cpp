// SPDX-License-Identifier: Apache-2.0
//
// GPT-2 (Radford et al. 2019): layer norms, learned positions, q, k and v in one matrix, matrices stored [in,
// out].
#include <cmath>

#include "converter/architectures/architecture.h"
#include "converter/error.h"

namespace mote::convert {
namespace {

WeightNames names_of(const Source& source) {
  // The original checkpoints hold the bare model.
  const std::string prefix = source.tensors.count("wte.weight") != 0 ? "" : "transformer.";
  WeightNames names;
  names.embedding = prefix + "wte";
  names.positions = prefix + "wpe";
  names.final_norm = prefix + "ln_f";
  names.head = "lm_head";
  names.attention_norm = prefix + "h.{}.ln_1";
  names.qkv = prefix + "h.{}.attn.c_attn";
  names.o = prefix + "h.{}.attn.c_proj";
  names.ffn_norm = prefix + "h.{}.ln_2";
  names.up = prefix + "h.{}.mlp.c_fc";
  names.down = prefix + "h.{}.mlp.c_proj";
  names.ignored = {".attn.bias", ".attn.masked_bias"};  // causal masks of old checkpoints
  return names;
}

}  // namespace

TransformerSpec read_gpt2(const Source& source, Config& config) {
  TransformerSpec spec{};
  spec.vocab = config.size("vocab_size", 1, kMaxSize);
  spec.width = config.size("n_embd", 1, kMaxSize);
  spec.layers = config.size("n_layer", 1, kMaxLayers);
  spec.context = config.size("n_positions", 1, kMaxSize);
  spec.heads = config.size("n_head", 1, kMaxSize);
  if (spec.width % spec.heads != 0)
    config.refuse("n_embd {} is not a multiple of n_head {}", spec.width, spec.heads);
  spec.kv_heads = spec.heads;
  spec.head_dim = spec.width / spec.heads;
  if (spec.head_dim > kMaxHeadDim)
    config.refuse("heads of {}, at most {} are supported", spec.head_dim, kMaxHeadDim);
  spec.ffn_width = config.size("n_inner", 1, kMaxSize, 4 * spec.width);
  spec.norm = NormKind::layer;
  spec.norm_eps = static_cast<float>(config.number("layer_norm_epsilon", 1e-5));
  spec.norm_bias = spec.qkv_bias = spec.o_bias = spec.ffn_bias = true;
  spec.positions = Positions::learned;
  spec.ffn = Ffn::plain;
  spec.activation = read_activation(config, "activation_function", "gelu_new");
  spec.windows.assign(spec.layers, 0);
  const double scale = config.flag("scale_attn_weights", true) ? 1.0 / std::sqrt(spec.head_dim) : 1.0;
  const bool by_layer = config.flag("scale_attn_by_inverse_layer_idx", false);
  for (uint32_t layer = 0; layer < spec.layers; ++layer) {
    spec.attention_scales.push_back(static_cast<float>(by_layer ? scale / (layer + 1) : scale));
  }
  spec.tied_embedding = config.flag("tie_word_embeddings", true);
  spec.transposed = source.format == "hf";
  spec.bos_id = config.token_id("bos_token_id", spec.vocab);
  spec.names = names_of(source);
  return spec;
}

}  // namespace mote::convert
