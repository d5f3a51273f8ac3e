// SPDX-License-Identifier: Apache-2.0
//
// BERT (Devlin et al. 2018) and what it shares with its relatives.
#include <algorithm>
#include <cmath>

#include "converter/architectures/architecture.h"
#include "converter/error.h"

namespace mote::convert {

AttentionSpec equal_heads(const Config& config, uint32_t width, uint32_t heads, const std::string& width_key,
                          const std::string& heads_key) {
  if (width % heads != 0)
    config.refuse("{} {} is not a multiple of {} {}", width_key, width, heads_key, heads);
  AttentionSpec attention;
  attention.heads = attention.kv_heads = heads;
  attention.head_dim = width / heads;
  attention.qkv_bias = attention.o_bias = true;
  if (attention.head_dim > kMaxHeadDim)
    config.refuse("heads of {}, at most {} are supported", attention.head_dim, kMaxHeadDim);
  attention.scale = static_cast<float>(1.0 / std::sqrt(attention.head_dim));
  return attention;
}

LayerNames post_norm_names(const std::string& prefix, const PostNormNames& names) {
  LayerNames layer;
  layer.q = prefix + names.q;
  layer.k = prefix + names.k;
  layer.v = prefix + names.v;
  layer.o = prefix + names.o;
  layer.attention_norms.sum = prefix + names.attention_norm;
  layer.up = prefix + names.up;
  layer.down = prefix + names.down;
  layer.ffn_norms.sum = prefix + names.ffn_norm;
  return layer;
}

void set_positions(const Source& source, const Config& config, uint32_t rows, uint32_t first,
                   TransformerSpec& spec) {
  if (first >= rows) config.refuse("{} positions, of which the first {} stand for padding", rows, first);
  spec.position_rows = rows;
  spec.first_position = first;
  spec.context = rows - first;
  if (source.max_tokens != 0) spec.context = std::min(spec.context, source.max_tokens);
}

namespace {

LayerSpec read_bert_layer(Config& config, uint32_t width, const std::string& base,
                          const BertDefaults& defaults) {
  LayerSpec layer;
  layer.attention =
      equal_heads(config, width, config.size("num_attention_heads", 1, kMaxSize, defaults.heads),
                  "hidden_size", "num_attention_heads");
  layer.ffn = {Ffn::plain, read_activation(config, "hidden_act", defaults.activation),
               config.size("intermediate_size", 1, kMaxSize, defaults.ffn_width), true};
  layer.names = post_norm_names(
      base + "encoder.layer.{}.",
      {"attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense",
       "attention.output.LayerNorm", "intermediate.dense", "output.dense", "output.LayerNorm"});
  return layer;
}

}  // namespace

TransformerSpec read_bert_like(const Source& source, Config& config, const std::string& base,
                               const BertDefaults& defaults) {
  TransformerSpec spec{};
  spec.vocab = config.size("vocab_size", 1, kMaxSize, defaults.vocab);
  spec.width = config.size("hidden_size", 1, kMaxSize, defaults.width);
  spec.repeat(read_bert_layer(config, spec.width, base, defaults),
              config.size("num_hidden_layers", 1, kMaxLayers, defaults.layers));
  set_positions(source, config, config.size("max_position_embeddings", 1, kMaxSize, defaults.context), 0,
                spec);
  const std::string positions = config.optional_text("position_embedding_type").value_or("absolute");
  if (positions != "absolute")
    config.refuse("position_embedding_type {} is not supported, only absolute is", positions);
  if (config.flag("is_decoder", false))
    config.refuse("is_decoder is true: only encoders of this kind are supported");
  spec.token_types = config.size("type_vocab_size", 0, kMaxSize, defaults.token_types);
  spec.norm = NormKind::layer;
  spec.norm_eps = static_cast<float>(config.number("layer_norm_eps", defaults.eps));
  spec.norm_bias = true;

  WeightNames& names = spec.names;
  names.embedding = base + "embeddings.word_embeddings";
  names.positions = base + "embeddings.position_embeddings";
  names.token_types = base + "embeddings.token_type_embeddings";
  names.embedding_norm = base + "embeddings.LayerNorm";
  names.ignored = {"embeddings.position_ids"};
  return spec;
}

TransformerSpec read_bert(const Source& source, Config& config) {
  const std::string base = base_of(source, "bert.");
  config.value("embedding_size");  // of some checkpoints; BERT has no narrower embedding
  TransformerSpec spec = read_bert_like(source, config, base, {});
  HeadNames names;
  names.base = base;
  names.pooler = "pooler.dense";
  names.classifier = {base + "pooler.dense", "", Activation::tanh, spec.width};
  names.masked = {"cls.predictions.transform.dense", "cls.predictions.transform.LayerNorm",
                  spec.layers[0].ffn.activation, spec.width};
  names.vocabulary = "cls.predictions.decoder";
  names.vocabulary_bias = "cls.predictions.bias";
  read_head(source, config, names, spec);
  return spec;
}

}  // namespace mote::convert
