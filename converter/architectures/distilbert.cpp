// SPDX-License-Identifier: Apache-2.0
//
// DistilBERT (Sanh et al. 2019): BERT without token types and pooler, with names and config keys of its own.
#include "converter/architectures/architecture.h"

namespace mote::convert {
namespace {

WeightNames names_of(const std::string& base) {
  WeightNames names;
  names.embedding = base + "embeddings.word_embeddings";
  names.positions = base + "embeddings.position_embeddings";
  names.embedding_norm = base + "embeddings.LayerNorm";
  const std::string layer = base + "transformer.layer.{}.";
  names.q = layer + "attention.q_lin";
  names.k = layer + "attention.k_lin";
  names.v = layer + "attention.v_lin";
  names.o = layer + "attention.out_lin";
  names.attention_norm = layer + "sa_layer_norm";
  names.up = layer + "ffn.lin1";
  names.down = layer + "ffn.lin2";
  names.ffn_norm = layer + "output_layer_norm";
  return names;
}

}  // namespace

TransformerSpec read_distilbert(const Source& source, Config& config) {
  const std::string base = base_of(source, "distilbert.");
  TransformerSpec spec{};
  spec.vocab = config.size("vocab_size", 1, kMaxSize);
  spec.width = config.size("dim", 1, kMaxSize);
  spec.layers = config.size("n_layers", 1, kMaxLayers);
  spec.heads = config.size("n_heads", 1, kMaxSize);
  spec.ffn_width = config.size("hidden_dim", 1, kMaxSize);
  set_equal_heads(config, spec, "dim", "n_heads");
  set_positions(source, config, config.size("max_position_embeddings", 1, kMaxSize), 0, spec);
  config.flag("sinusoidal_pos_embds", false);  // the table is stored either way
  spec.norm = NormKind::layer;
  spec.norm_eps = 1e-12f;
  spec.norm_after = spec.norm_bias = spec.qkv_bias = spec.o_bias = spec.ffn_bias = true;
  spec.ffn = Ffn::plain;
  spec.activation = read_activation(config, "activation", "gelu");
  spec.names = names_of(base);
  HeadNames names;
  names.base = base;
  names.classifier = {"pre_classifier", "", Activation::relu, spec.width};
  names.masked = {"vocab_transform", "vocab_layer_norm", spec.activation, spec.width};
  names.vocabulary = "vocab_projector";
  names.vocabulary_bias = "vocab_projector.bias";
  read_head(source, config, names, spec);
  return spec;
}

}  // namespace mote::convert
