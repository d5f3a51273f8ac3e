// SPDX-License-Identifier: Apache-2.0
//
// DistilBERT (Sanh et al. 2019): BERT without token types and pooler, with names and config keys of its own.
#include "converter/architectures/shared/architecture.h"

namespace mote::convert {
namespace {

LayerSpec distilbert_layer(Config& config, uint32_t width, const std::string& base) {
  LayerSpec layer;
  layer.attention = equal_heads(config, width, config.size("n_heads", 1, kMaxSize, 12), "dim", "n_heads");
  layer.ffn = {Ffn::plain, read_activation(config, "activation", "gelu"),
               config.size("hidden_dim", 1, kMaxSize, 3072), true};
  layer.names = post_norm_names(base + "transformer.layer.{}.",
                                {"attention.q_lin", "attention.k_lin", "attention.v_lin", "attention.out_lin",
                                 "sa_layer_norm", "ffn.lin1", "ffn.lin2", "output_layer_norm"});
  return layer;
}

}  // namespace

TransformerSpec read_distilbert(const Source& source, Config& config) {
  const std::string base = base_of(source, "distilbert.");
  TransformerSpec spec = read_encoder(source, config, {30522, 768, 512, 1e-12, "dim", nullptr});
  const LayerSpec layer = distilbert_layer(config, spec.width, base);
  spec.repeat(layer, config.size("n_layers", 1, kMaxLayers, 6));
  config.flag("sinusoidal_pos_embds", false);  // the table is stored either way
  spec.names.embedding = base + "embeddings.word_embeddings";
  spec.names.positions = base + "embeddings.position_embeddings";
  spec.names.embedding_norm = base + "embeddings.LayerNorm";
  HeadNames names;
  names.base = base;
  names.classifier = {"pre_classifier", "", Activation::relu, spec.width};
  names.masked = {"vocab_transform", "vocab_layer_norm", layer.ffn.activation, spec.width};
  names.vocabulary = "vocab_projector";
  names.vocabulary_bias = "vocab_projector.bias";
  read_head(source, config, names, spec);
  return spec;
}

}  // namespace mote::convert
