// SPDX-License-Identifier: Apache-2.0
//
// MPNet (Song et al. 2020): BERT without token types, with a bias on attention scores by the distance of key
// and query in buckets, which all layers share.
#include "converter/architectures/shared/architecture.h"
#include "converter/architectures/shared/relative_bias.h"

namespace mote::convert {
namespace {

constexpr uint32_t kBuckets = 32, kPaddingId = 1;  // the original's, whatever the config says

}  // namespace

TransformerSpec read_mpnet(const Source& source, Config& config) {
  const std::string base = base_of(source, "mpnet.");
  TransformerSpec spec = read_bert_like(source, config, base, {30527});
  set_positions(source, config, spec.position_rows, kPaddingId + 1, spec);
  spec.token_types = 0;
  if (config.size("relative_attention_num_buckets", 1, kMaxSize, kBuckets) != kBuckets) {
    config.refuse("relative_attention_num_buckets other than {} is not supported", kBuckets);
  }
  const std::string table = "encoder.relative_attention_bias.weight";
  const uint32_t attention_heads = spec.layers[0].attention.heads;
  spec.attention_biases = {
      relative_bias(source, base + table, attention_heads, spec.context, RelativeBuckets{})};
  spec.names.ignored.push_back(table);  // taken here
  const std::string prefix = base + "encoder.layer.{}.attention.";
  for (LayerSpec& layer : spec.layers) {
    layer.attention.bias = 0;
    layer.names.q = prefix + "attn.q";
    layer.names.k = prefix + "attn.k";
    layer.names.v = prefix + "attn.v";
    layer.names.o = prefix + "attn.o";
    layer.names.attention_norms.sum = prefix + "LayerNorm";
  }
  read_head(source, config, roberta_heads(base, spec.width), spec);
  return spec;
}

}  // namespace mote::convert
