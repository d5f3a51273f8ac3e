// SPDX-License-Identifier: Apache-2.0
//
// BERT (Devlin et al. 2018) and what it shares with its relatives.
#include <algorithm>
#include <cmath>

#include "converter/architectures/architecture.h"
#include "converter/error.h"

namespace mote::convert {

void set_equal_heads(const Config& config, TransformerSpec& spec, const std::string& width_key,
                     const std::string& heads_key) {
  if (spec.width % spec.heads != 0) {
    config.refuse("{} {} is not a multiple of {} {}", width_key, spec.width, heads_key, spec.heads);
  }
  spec.kv_heads = spec.heads;
  spec.head_dim = spec.width / spec.heads;
  if (spec.head_dim > kMaxHeadDim)
    config.refuse("heads of {}, at most {} are supported", spec.head_dim, kMaxHeadDim);
  spec.windows.assign(spec.layers, 0);
  spec.attention_scales.assign(spec.layers, static_cast<float>(1.0 / std::sqrt(spec.head_dim)));
}

void set_positions(const Source& source, const Config& config, uint32_t rows, uint32_t first,
                   TransformerSpec& spec) {
  if (first >= rows) config.refuse("{} positions, of which the first {} stand for padding", rows, first);
  spec.positions = Positions::learned;
  spec.position_rows = rows;
  spec.first_position = first;
  spec.context = rows - first;
  if (source.pooling && source.pooling->max_tokens != 0) {
    spec.context = std::min(spec.context, source.pooling->max_tokens);
  }
}

TransformerSpec read_bert_like(const Source& source, Config& config, const std::string& base) {
  TransformerSpec spec{};
  spec.vocab = config.size("vocab_size", 1, kMaxSize);
  spec.width = config.size("hidden_size", 1, kMaxSize);
  spec.layers = config.size("num_hidden_layers", 1, kMaxLayers);
  spec.heads = config.size("num_attention_heads", 1, kMaxSize);
  spec.ffn_width = config.size("intermediate_size", 1, kMaxSize);
  set_equal_heads(config, spec, "hidden_size", "num_attention_heads");
  set_positions(source, config, config.size("max_position_embeddings", 1, kMaxSize), 0, spec);
  const std::string positions = config.text("position_embedding_type", "absolute");
  if (positions != "absolute")
    config.refuse("position_embedding_type {} is not supported, only absolute is", positions);
  if (config.flag("is_decoder", false))
    config.refuse("is_decoder is true: only encoders of this kind are supported");
  spec.token_types = config.size("type_vocab_size", 0, kMaxSize, 2);
  spec.norm = NormKind::layer;
  spec.norm_eps = static_cast<float>(config.number("layer_norm_eps", 1e-12));
  spec.norm_after = spec.norm_bias = spec.qkv_bias = spec.o_bias = spec.ffn_bias = true;
  spec.ffn = Ffn::plain;
  spec.activation = read_activation(config, "hidden_act", "gelu");

  WeightNames& names = spec.names;
  names.embedding = base + "embeddings.word_embeddings";
  names.positions = base + "embeddings.position_embeddings";
  names.token_types = base + "embeddings.token_type_embeddings";
  names.embedding_norm = base + "embeddings.LayerNorm";
  const std::string layer = base + "encoder.layer.{}.";
  names.q = layer + "attention.self.query";
  names.k = layer + "attention.self.key";
  names.v = layer + "attention.self.value";
  names.o = layer + "attention.output.dense";
  names.attention_norm = layer + "attention.output.LayerNorm";
  names.up = layer + "intermediate.dense";
  names.down = layer + "output.dense";
  names.ffn_norm = layer + "output.LayerNorm";
  names.ignored = {"embeddings.position_ids"};
  return spec;
}

TransformerSpec read_bert(const Source& source, Config& config) {
  const std::string base = base_of(source, "bert.");
  TransformerSpec spec = read_bert_like(source, config, base);
  HeadNames names;
  names.base = base;
  names.pooler = "pooler.dense";
  names.classifier = {base + "pooler.dense", "", Activation::tanh, spec.width};
  names.masked = {"cls.predictions.transform.dense", "cls.predictions.transform.LayerNorm", spec.activation,
                  spec.width};
  names.vocabulary = "cls.predictions.decoder";
  names.vocabulary_bias = "cls.predictions.bias";
  read_head(source, config, names, spec);
  return spec;
}

}  // namespace mote::convert
