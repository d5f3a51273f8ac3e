// SPDX-License-Identifier: Apache-2.0
//
// RoBERTa (Liu et al. 2019) and what has its shape under other names (XLM-RoBERTa, CamemBERT, data2vec of
// texts): BERT whose positions start after the padding token's id and whose heads have other names.
#include "converter/architectures/shared/architecture.h"

namespace mote::convert {

HeadNames roberta_heads(const std::string& base, uint32_t width) {
  HeadNames names;
  names.base = base;
  names.pooler = "pooler.dense";
  names.classifier = {"classifier.dense", "", Activation::tanh, width};
  names.labels = "classifier.out_proj";
  names.masked = {"lm_head.dense", "lm_head.layer_norm", Activation::gelu, width};
  names.vocabulary = "lm_head.decoder";
  names.vocabulary_bias = "lm_head.bias";
  return names;
}

TransformerSpec read_roberta(const Source& source, Config& config) {
  const std::string type = config.text("model_type");
  const std::string base = base_of(source, type == "data2vec-text" ? "data2vec_text." : "roberta.");
  BertDefaults defaults;
  if (type == "roberta") defaults.vocab = 50265;
  TransformerSpec spec = read_bert_like(source, config, base, defaults);
  const uint32_t padding = config.size("pad_token_id", 0, kMaxSize, 1);
  set_positions(source, config, spec.position_rows, padding + 1, spec);
  read_head(source, config, roberta_heads(base, spec.width), spec);
  return spec;
}

}  // namespace mote::convert
