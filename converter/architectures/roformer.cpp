// SPDX-License-Identifier: Apache-2.0
//
// RoFormer (Su et al. 2021): BERT whose queries and keys are rotated, neighbouring columns by one angle, and
// whose embedding may be narrower.
#include "converter/architectures/shared/architecture.h"

namespace mote::convert {

HeadNames roformer_heads(const std::string& base, const TransformerSpec& spec, uint32_t masked) {
  const Activation activation = spec.layers[0].ffn.activation;
  HeadNames names;
  names.base = base;
  names.classifier = {"classifier.dense", "", activation, spec.width};
  names.labels = "classifier.out_proj";
  set_bert_masked(spec, names);
  names.masked.width = masked;
  return names;
}

TransformerSpec read_roformer(const Source& source, Config& config) {
  const std::string base = base_of(source, "roformer.");
  const BertDefaults defaults{.vocab = 50000, .context = 1536};
  TransformerSpec spec = read_bert_like(source, config, base, defaults);
  if (config.flag("rotary_value", false)) config.refuse("rotary_value is true, which is not supported");
  const uint32_t embedding =
      config.optional_size("embedding_size", 1, kMaxSize, spec.width).value_or(spec.width);
  if (embedding != spec.width) {
    spec.embedding_width = embedding;
    spec.names.embedding_projection = base + "embeddings_project";
  }
  spec.names.positions.clear();
  spec.names.ignored = {"embeddings.position_ids",
                        "encoder.embed_positions.weight"};  // the latter RoPE computes
  spec.ropes = {plain_rope(config, spec.layers[0].attention.head_dim, 10000.0)};
  spec.ropes[0].kind = RopeKind::interleaved;
  for (LayerSpec& layer : spec.layers) layer.attention.rope = 0;

  const HeadNames names = roformer_heads(base, spec, embedding);
  read_head(source, config, names, spec);
  return spec;
}

}  // namespace mote::convert
