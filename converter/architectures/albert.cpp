// SPDX-License-Identifier: Apache-2.0
//
// ALBERT (Lan et al. 2019): BERT with a narrow embedding and layers that share their weights.
#include "converter/architectures/architecture.h"
#include "converter/error.h"

namespace mote::convert {

TransformerSpec read_albert(const Source& source, Config& config) {
  const std::string base = base_of(source, "albert.");
  TransformerSpec spec = read_bert_like(source, config, base);
  const uint32_t embedding = spec.embedding_width = config.size("embedding_size", 1, kMaxSize, 128);
  const uint32_t groups = config.size("num_hidden_groups", 1, spec.layers, 1);
  if (config.size("inner_group_num", 1, kMaxLayers, 1) != 1) {
    config.refuse("inner_group_num other than 1 is not supported");
  }
  if (config.size("layers", 1, kMaxLayers, spec.layers) != spec.layers) {
    config.refuse("layers is not num_hidden_layers, {}", spec.layers);
  }
  for (uint32_t layer = 0; layer < spec.layers; ++layer)
    spec.weights_of.push_back(layer * groups / spec.layers);
  spec.activation = read_activation(config, "hidden_act", "gelu_new");

  const std::string layer = base + "encoder.albert_layer_groups.{}.albert_layers.0.";
  WeightNames& names = spec.names;
  names.embedding_projection = base + "encoder.embedding_hidden_mapping_in";
  names.q = layer + "attention.query";
  names.k = layer + "attention.key";
  names.v = layer + "attention.value";
  names.o = layer + "attention.dense";
  names.attention_norm = layer + "attention.LayerNorm";
  names.up = layer + "ffn";
  names.down = layer + "ffn_output";
  names.ffn_norm = layer + "full_layer_layer_norm";
  HeadNames heads;
  heads.base = base;
  heads.pooler = "pooler";
  heads.classifier = {base + "pooler", "", Activation::tanh, spec.width};
  heads.masked = {"predictions.dense", "predictions.LayerNorm", spec.activation, embedding};
  heads.vocabulary = "predictions.decoder";
  heads.vocabulary_bias = "predictions.bias";
  read_head(source, config, heads, spec);
  return spec;
}

}  // namespace mote::convert
