// SPDX-License-Identifier: Apache-2.0
//
// MPNet (Song et al. 2020): BERT without token types, with a bias on attention scores by the distance of key
// and query in buckets, which all layers share.
#include <algorithm>
#include <cmath>

#include "converter/architectures/architecture.h"
#include "converter/error.h"

namespace mote::convert {
namespace {

constexpr uint32_t kBuckets = 32, kPaddingId = 1;  // the original's, whatever the config says

/// T5's buckets (Raffel et al. 2019): of 16 for each direction 8 are single distances, 8 grow up to 128. In
/// f32, as the original computes them: at powers of two it is the rounding that decides.
uint32_t bucket_of(int32_t key_minus_query) {
  constexpr uint32_t kDirection = kBuckets / 2, kSingle = kDirection / 2;
  constexpr double kFarthest = 128;
  const uint32_t direction = key_minus_query > 0 ? kDirection : 0;
  const uint32_t distance = static_cast<uint32_t>(std::abs(key_minus_query));
  if (distance < kSingle) return direction + distance;
  const float growth = static_cast<float>(std::log(kFarthest / kSingle));
  const float share = std::log(static_cast<float>(distance) / static_cast<float>(kSingle)) / growth;
  const uint32_t large = kSingle + static_cast<uint32_t>(share * static_cast<float>(kDirection - kSingle));
  return direction + std::min(large, kDirection - 1);
}

/// [heads, 2 context - 1] by key - query + context - 1.
std::vector<float> attention_bias(const Source& source, const std::string& name, uint32_t heads,
                                  uint32_t context) {
  const auto found = source.tensors.find(name);
  if (found == source.tensors.end()) fail("tensor {} is missing", name);
  const SourceTensor& table = found->second;
  if (table.shape != std::vector<uint64_t>{kBuckets, heads})
    fail("tensor {} is not [{}, {}]", name, kBuckets, heads);
  std::vector<std::vector<float>> rows(kBuckets, std::vector<float>(heads));
  for (uint32_t bucket = 0; bucket < kBuckets; ++bucket) read_row(table, bucket, rows[bucket]);
  const uint32_t columns = 2 * context - 1;
  std::vector<float> bias(size_t{heads} * columns);
  for (uint32_t column = 0; column < columns; ++column) {
    const uint32_t bucket = bucket_of(static_cast<int32_t>(column) - static_cast<int32_t>(context - 1));
    for (uint32_t head = 0; head < heads; ++head) bias[size_t{head} * columns + column] = rows[bucket][head];
  }
  return bias;
}

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
  spec.attention_biases = {attention_bias(source, base + table, attention_heads, spec.context)};
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
