// SPDX-License-Identifier: Apache-2.0
//
// GPT-2 (Radford et al. 2019): layer norms, learned positions, q, k and v in one matrix, matrices stored [in,
// out].
#include <cmath>

#include "converter/architectures/architecture.h"
#include "converter/error.h"

namespace mote::convert {
namespace {

LayerSpec gpt2_layer(Config& config, uint32_t width, const std::string& base) {
  LayerSpec layer;
  layer.attention = equal_heads(config, width, config.size("n_head", 1, kMaxSize, 12), "n_embd", "n_head");
  layer.ffn = {Ffn::plain, read_activation(config, "activation_function", "gelu_new"),
               config.optional_size("n_inner", 1, kMaxSize).value_or(4 * width), true};
  const std::string prefix = base + "h.{}.";
  LayerNames& names = layer.names;
  names.attention_norms.before = prefix + "ln_1";
  names.qkv = prefix + "attn.c_attn";
  names.o = prefix + "attn.c_proj";
  names.ffn_norms.before = prefix + "ln_2";
  names.up = prefix + "mlp.c_fc";
  names.down = prefix + "mlp.c_proj";
  return layer;
}

void read_scales(Config& config, std::vector<LayerSpec>& layers) {
  const uint32_t head_dim = layers[0].attention.head_dim;
  const double scale = config.flag("scale_attn_weights", true) ? 1.0 / std::sqrt(head_dim) : 1.0;
  const bool by_layer = config.flag("scale_attn_by_inverse_layer_idx", false);
  for (size_t i = 0; i < layers.size(); ++i) {
    const double divisor = by_layer ? static_cast<double>(i + 1) : 1.0;
    layers[i].attention.scale = static_cast<float>(scale / divisor);
  }
}

}  // namespace

TransformerSpec read_gpt2(const Source& source, Config& config) {
  // The original checkpoints hold the bare model.
  const std::string base = source.tensors.count("wte.weight") != 0 ? "" : "transformer.";
  TransformerSpec spec{};
  spec.vocab = config.size("vocab_size", 1, kMaxSize, 50257);
  spec.width = config.size("n_embd", 1, kMaxSize, 768);
  spec.context = config.size("n_positions", 1, kMaxSize, 1024);
  spec.repeat(gpt2_layer(config, spec.width, base), config.size("n_layer", 1, kMaxLayers, 12));
  read_scales(config, spec.layers);
  spec.norm = NormKind::layer;
  spec.norm_eps = static_cast<float>(config.number("layer_norm_epsilon", 1e-5));
  spec.norm_bias = true;
  spec.tied_embedding = config.flag("tie_word_embeddings", true);
  spec.transposed = source.format == "hf";
  spec.bos_id = config.token_id("bos_token_id", spec.vocab, 50256);
  WeightNames& names = spec.names;
  names.embedding = base + "wte";
  names.positions = base + "wpe";
  names.final_norm = base + "ln_f";
  names.head = "lm_head";
  names.ignored = {".attn.bias", ".attn.masked_bias"};  // causal masks of old checkpoints
  return spec;
}

}  // namespace mote::convert
