// SPDX-License-Identifier: Apache-2.0
//
// ALBERT (Lan et al. 2019): BERT with a narrow embedding and layers that share their weights.
#include "converter/architectures/shared/architecture.h"
#include "host/base/error.h"

namespace mote::convert {

TransformerSpec read_albert(const Source& source, Config& config) {
  const std::string base = base_of(source, "albert.");
  TransformerSpec spec = read_bert_like(source, config, base, {30000, 4096, 64, 16384, "gelu_new"});
  const uint32_t embedding = spec.embedding_width = config.size("embedding_size", 1, kMaxSize, 128);
  const uint32_t layers = static_cast<uint32_t>(spec.layers.size());
  const uint32_t groups = config.size("num_hidden_groups", 1, layers, 1);
  if (config.size("inner_group_num", 1, kMaxLayers, 1) != 1) {
    config.refuse("inner_group_num other than 1 is not supported");
  }
  if (config.size("layers", 1, kMaxLayers, layers) != layers) {
    config.refuse("layers is not num_hidden_layers, {}", layers);
  }
  const LayerNames names =
      post_norm_names(base + "encoder.albert_layer_groups.{}.albert_layers.0.",
                      {"attention.query", "attention.key", "attention.value", "attention.dense",
                       "attention.LayerNorm", "ffn", "ffn_output", "full_layer_layer_norm"});
  for (uint32_t i = 0; i < layers; ++i) {
    spec.layers[i].weights = i * groups / layers;
    spec.layers[i].names = names;
  }
  spec.names.embedding_projection = base + "encoder.embedding_hidden_mapping_in";
  HeadNames heads;
  heads.base = base;
  heads.pooler = "pooler";
  heads.classifier = {base + "pooler", "", Activation::tanh, spec.width};
  heads.masked = {"predictions.dense", "predictions.LayerNorm", spec.layers[0].ffn.activation, embedding};
  heads.vocabulary = "predictions.decoder";
  heads.vocabulary_bias = "predictions.bias";
  read_head(source, config, heads, spec);
  return spec;
}

}  // namespace mote::convert
