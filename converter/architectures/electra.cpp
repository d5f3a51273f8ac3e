// SPDX-License-Identifier: Apache-2.0
//
// ELECTRA (Clark et al. 2020): BERT with an embedding that may be narrower; a discriminator finds replaced
// tokens.
#include "converter/architectures/shared/architecture.h"

namespace mote::convert {

TransformerSpec read_electra(const Source& source, Config& config) {
  const std::string base = base_of(source, "electra.");
  TransformerSpec spec = read_bert_like(source, config, base, {30522, 256, 4, 1024});
  const uint32_t embedding = config.size("embedding_size", 1, kMaxSize, 128);
  if (embedding != spec.width) {
    spec.embedding_width = embedding;
    spec.names.embedding_projection = base + "embeddings_project";
  }
  HeadNames names;
  names.base = base;
  names.classifier = {"classifier.dense", "", Activation::gelu, spec.width};
  names.labels = "classifier.out_proj";
  names.masked = {"generator_predictions.dense", "generator_predictions.LayerNorm", Activation::gelu,
                  embedding};
  names.vocabulary = "generator_lm_head";
  names.vocabulary_bias = "generator_lm_head.bias";
  if (source.tensors.count("discriminator_predictions.dense.weight") == 0 || source.pooling) {
    read_head(source, config, names, spec);
    return spec;
  }
  config.value("architectures");
  config.flag("tie_word_embeddings", true);
  spec.head.kind = OutputKind::token_labels;
  spec.head.probabilities = Probabilities::sigmoid;
  spec.head.dense = {"discriminator_predictions.dense", "", spec.layers[0].ffn.activation, spec.width};
  spec.head.output = "discriminator_predictions.dense_prediction";
  spec.head.labels = {"replaced"};
  spec.head.width = 1;
  return spec;
}

}  // namespace mote::convert
