// SPDX-License-Identifier: Apache-2.0
//
// XGLM (Lin et al. 2021): sines for positions, which the file does not have, from row 2 on, and an embedding
// that is scaled by the root of the width.
#include <cmath>

#include "converter/architectures/architecture.h"

namespace mote::convert {
namespace {

constexpr uint32_t kOffset = 2;

/// [context, width], the sines of a row before its cosines, in f32 as the original computes them. The row of
/// the padding id is 0.
std::vector<float> sines(uint32_t context, uint32_t width, int32_t padding) {
  const uint32_t half = width / 2;
  std::vector<float> table(size_t{context} * width);
  const float step = static_cast<float>(std::log(10000.0) / (half - 1.0));
  for (uint32_t row = 0; row < context; ++row) {
    if (static_cast<int64_t>(row) + kOffset == padding) continue;
    for (uint32_t i = 0; i < half; ++i) {
      const float angle = static_cast<float>(row + kOffset) * std::exp(static_cast<float>(i) * -step);
      table[size_t{row} * width + i] = std::sin(angle);
      table[size_t{row} * width + half + i] = std::cos(angle);
    }
  }
  return table;
}

}  // namespace

TransformerSpec read_xglm(const Source& source, Config& config) {
  const std::string base = base_of(source, "model."), prefix = base + "layers.{}.";
  TransformerSpec spec{};
  spec.vocab = config.size("vocab_size", 1, kMaxSize, 256008);
  spec.width = config.size("d_model", 1, kMaxSize, 1024);
  spec.context = config.size("max_position_embeddings", 1, kMaxSize, 2048);
  LayerSpec layer;
  layer.attention = equal_heads(config, spec.width, config.size("attention_heads", 1, kMaxSize, 16),
                                "d_model", "attention_heads");
  layer.ffn = {Ffn::plain, read_activation(config, "activation_function", "gelu"),
               config.size("ffn_dim", 1, kMaxSize, 4096), true};
  layer.names.attention_norms.before = prefix + "self_attn_layer_norm";
  layer.names.q = prefix + "self_attn.q_proj";
  layer.names.k = prefix + "self_attn.k_proj";
  layer.names.v = prefix + "self_attn.v_proj";
  layer.names.o = prefix + "self_attn.out_proj";
  layer.names.ffn_norms.before = prefix + "final_layer_norm";
  layer.names.up = prefix + "fc1";
  layer.names.down = prefix + "fc2";
  spec.repeat(layer, config.size("num_layers", 1, kMaxLayers, 24));
  if (config.flag("scale_embedding", true))
    spec.embedding_multiplier = std::sqrt(static_cast<float>(spec.width));
  const int32_t padding = config.token_id("pad_token_id", kMaxSize, 1);
  spec.position_table = sines(spec.context, spec.width, padding);
  spec.norm = NormKind::layer;
  spec.norm_eps = 1e-5f;
  spec.norm_bias = true;
  spec.tied_embedding = config.flag("tie_word_embeddings", true);
  spec.bos_id = config.token_id("bos_token_id", spec.vocab, 0);
  config.value("decoder_start_token_id");
  spec.names.embedding = base + "embed_tokens";
  spec.names.final_norm = base + "layer_norm";
  spec.names.head = "lm_head";
  spec.names.ignored = {"embed_positions.weights"};
  return spec;
}

}  // namespace mote::convert
