// SPDX-License-Identifier: Apache-2.0
//
// BERT (Devlin et al. 2018) and what it shares with its relatives.
#include <algorithm>
#include <cmath>
#include <utility>

#include "converter/architectures/shared/architecture.h"
#include "host/base/error.h"

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

LayerNames pre_norm_names(const std::string& prefix, const PostNormNames& names) {
  LayerNames layer = post_norm_names(prefix, names);
  for (BranchNorms* norms : {&layer.attention_norms, &layer.ffn_norms})
    norms->before = std::exchange(norms->sum, "");
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

void set_layer_norms(double eps, TransformerSpec& spec) {
  spec.norm = NormKind::layer;
  spec.norm_eps = static_cast<float>(eps);
  spec.norm_bias = true;
}

void set_layer_norms(Config& config, double eps, TransformerSpec& spec) {
  set_layer_norms(config.number("layer_norm_eps", eps), spec);
}

TransformerSpec read_encoder(const Source& source, Config& config, const EncoderSizes& sizes) {
  TransformerSpec spec{};
  spec.vocab = config.size("vocab_size", 1, kMaxSize, sizes.vocab);
  spec.width = config.size(sizes.width_key, 1, kMaxSize, sizes.width);
  const uint32_t positions = config.size("max_position_embeddings", 1, kMaxSize, sizes.context);
  set_positions(source, config, positions, 0, spec);
  set_layer_norms(sizes.eps_key == nullptr ? sizes.eps : config.number(sizes.eps_key, sizes.eps), spec);
  return spec;
}

void set_bert_embeddings(const std::string& base, WeightNames& names) {
  names.embedding = base + "embeddings.word_embeddings";
  names.positions = base + "embeddings.position_embeddings";
  names.token_types = base + "embeddings.token_type_embeddings";
  names.embedding_norm = base + "embeddings.LayerNorm";
  names.ignored = {"embeddings.position_ids"};
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
  TransformerSpec spec =
      read_encoder(source, config, {defaults.vocab, defaults.width, defaults.context, defaults.eps});
  spec.repeat(read_bert_layer(config, spec.width, base, defaults),
              config.size("num_hidden_layers", 1, kMaxLayers, defaults.layers));
  const std::string positions = config.optional_text("position_embedding_type").value_or("absolute");
  if (positions != "absolute")
    config.refuse("position_embedding_type {} is not supported, only absolute is", positions);
  if (config.flag("is_decoder", false))
    config.refuse("is_decoder is true: only encoders of this kind are supported");
  spec.token_types = config.size("type_vocab_size", 0, kMaxSize, defaults.token_types);
  set_bert_embeddings(base, spec.names);
  return spec;
}

HeadNames bert_heads(const std::string& base, const TransformerSpec& spec) {
  HeadNames names;
  names.base = base;
  names.pooler = "pooler.dense";
  names.classifier = {base + "pooler.dense", "", Activation::tanh, spec.width};
  return names;
}

void set_bert_masked(const TransformerSpec& spec, HeadNames& names) {
  names.masked = {"cls.predictions.transform.dense", "cls.predictions.transform.LayerNorm",
                  spec.layers[0].ffn.activation, spec.width};
  names.vocabulary = "cls.predictions.decoder";
  names.vocabulary_bias = "cls.predictions.bias";
}

TransformerSpec read_bert(const Source& source, Config& config) {
  const std::string base = base_of(source, "bert.");
  config.value("embedding_size");  // of some checkpoints; BERT has no narrower embedding
  TransformerSpec spec = read_bert_like(source, config, base, {});
  HeadNames names = bert_heads(base, spec);
  set_bert_masked(spec, names);
  read_head(source, config, names, spec);
  return spec;
}

}  // namespace mote::convert
