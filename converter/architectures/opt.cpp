// SPDX-License-Identifier: Apache-2.0
//
// OPT (Zhang et al. 2022): learned positions from row 2 on, norms before or behind the branches, an embedding
// that may be narrower than the layers.
#include "converter/architectures/architecture.h"

namespace mote::convert {
namespace {

LayerNames layer_names(const std::string& prefix, bool before, bool weights) {
  LayerNames names;
  (before ? names.attention_norms.before : names.attention_norms.sum) =
      weights ? prefix + "self_attn_layer_norm" : kUnweighted;
  names.q = prefix + "self_attn.q_proj";
  names.k = prefix + "self_attn.k_proj";
  names.v = prefix + "self_attn.v_proj";
  names.o = prefix + "self_attn.out_proj";
  (before ? names.ffn_norms.before : names.ffn_norms.sum) =
      weights ? prefix + "final_layer_norm" : kUnweighted;
  names.up = prefix + "fc1";
  names.down = prefix + "fc2";
  return names;
}

}  // namespace

TransformerSpec read_opt(const Source& source, Config& config) {
  const std::string model = base_of(source, "model."), base = model + "decoder.";
  TransformerSpec spec{};
  spec.vocab = config.size("vocab_size", 1, kMaxSize, 50272);
  spec.width = config.size("hidden_size", 1, kMaxSize, 768);
  spec.context = config.size("max_position_embeddings", 1, kMaxSize, 2048);
  const bool bias = config.flag("enable_bias", true),
             weights = config.flag("layer_norm_elementwise_affine", true);
  const bool before = config.flag("do_layer_norm_before", true);
  LayerSpec layer;
  layer.attention = equal_heads(config, spec.width, config.size("num_attention_heads", 1, kMaxSize, 12),
                                "hidden_size", "num_attention_heads");
  layer.attention.qkv_bias = layer.attention.o_bias = bias;
  layer.ffn = {Ffn::plain, read_activation(config, "activation_function", "relu"),
               config.size("ffn_dim", 1, kMaxSize, 3072), bias};
  layer.names = layer_names(base + "layers.{}.", before, weights);
  spec.repeat(layer, config.size("num_hidden_layers", 1, kMaxLayers, 12));
  spec.norm = NormKind::layer;
  spec.norm_eps = 1e-5f;
  spec.norm_bias = true;
  spec.tied_embedding = config.flag("tie_word_embeddings", true);
  spec.bos_id = config.token_id("bos_token_id", spec.vocab, 2);
  WeightNames& names = spec.names;
  names.embedding = base + "embed_tokens";
  names.positions = base + "embed_positions";
  spec.first_position = 2;
  spec.position_rows = spec.context + spec.first_position;
  const bool has_norm = !config.flag("_remove_final_layer_norm", false) && before;
  if (has_norm) names.final_norm = weights ? base + "final_layer_norm" : kUnweighted;
  names.head = "lm_head";
  const uint32_t embedding = config.optional_size("word_embed_proj_dim", 1, kMaxSize).value_or(spec.width);
  if (embedding == spec.width) return spec;
  spec.embedding_width = embedding;
  spec.embedding_projection_bias = false;
  spec.positions_after_projection = true;
  names.embedding_projection = base + "project_in";
  names.output_projection = base + "project_out";
  return spec;
}

}  // namespace mote::convert
