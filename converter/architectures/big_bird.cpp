// SPDX-License-Identifier: Apache-2.0
//
// BigBird (Zaheer et al. 2020): BERT with heads of its own. In long texts tokens see the first, the last and
// the neighbouring blocks; the random blocks are all the first one where the original does not train.
#include <cmath>

#include "converter/architectures/shared/architecture.h"

namespace mote::convert {

constexpr uint32_t kMaxPatternSize = 1u << 10;

TransformerSpec read_big_bird(const Source& source, Config& config) {
  const std::string base = base_of(source, "bert.");
  const BertDefaults defaults{.vocab = 50358, .activation = "gelu_new", .context = 4096};
  TransformerSpec spec = read_bert_like(source, config, base, defaults);
  const std::string type = config.text("attention_type", "block_sparse");
  if (type != "original_full" && type != "block_sparse")
    config.refuse("attention_type {} is not supported; original_full and block_sparse are", type);
  const uint32_t block = config.size("block_size", 1, kMaxPatternSize, 64);
  const uint32_t random_blocks = config.size("num_random_blocks", 0, kMaxPatternSize, 3);
  for (LayerSpec& layer : spec.layers) {
    if (type != "block_sparse") break;
    layer.attention.block = block;
    layer.attention.random_blocks = random_blocks;
  }
  if (config.flag("rescale_embeddings", false))
    spec.embedding_multiplier = static_cast<float>(std::sqrt(spec.width));
  const bool bias = config.flag("use_bias", true);
  for (LayerSpec& layer : spec.layers) layer.attention.qkv_bias = bias;

  HeadNames names = roformer_heads(base, spec, spec.width);
  names.pooler = "pooler";
  read_head(source, config, names, spec);
  return spec;
}

}  // namespace mote::convert
