// SPDX-License-Identifier: Apache-2.0
//
// EuroBERT (Boizard et al. 2025): layers as Llama's that see all tokens of a text.
#include "converter/architectures/shared/architecture.h"

namespace mote::convert {
namespace {

/// A text's labels are of its first token, of the mean of its tokens before the head, or of the mean of their
/// labels, which is the head's last linear of the mean of what comes before it.
void set_pooling(Config& config, HeadSpec& head) {
  const std::string pooling = config.text("classifier_pooling", "late");
  if (head.kind != OutputKind::sequence_labels) return;
  if (pooling != "bos" && pooling != "mean" && pooling != "late")
    config.refuse("classifier_pooling {} is not supported; supported are bos, mean, late", pooling);
  head.pool = pooling == "bos" ? PoolKind::first : PoolKind::mean;
  head.dense_of_tokens = pooling == "late";
}

}  // namespace

TransformerSpec read_eurobert(const Source& source, Config& config) {
  TransformerSpec spec = read_llama_like(source, config, "eurobert");
  if (source.max_tokens != 0 && source.max_tokens < spec.context) spec.context = source.max_tokens;
  const bool tied = spec.tied_embedding;
  HeadNames names;
  names.base = base_of(source, "model.");
  names.classifier = {"dense", "", Activation::gelu, spec.width};
  names.vocabulary = "lm_head";
  if (spec.layers[0].ffn.bias) names.vocabulary_bias = "lm_head.bias";
  read_head(source, config, names, spec);
  spec.tied_embedding = tied && spec.head.kind == OutputKind::masked_token;
  set_pooling(config, spec.head);
  return spec;
}

}  // namespace mote::convert
