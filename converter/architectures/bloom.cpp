// SPDX-License-Identifier: Apache-2.0
//
// BLOOM (Le Scao et al. 2022): ALiBi instead of positions, a norm behind the embedding, q, k and v of each
// head next to each other.
#include "converter/architectures/shared/architecture.h"

namespace mote::convert {

TransformerSpec read_bloom(const Source& source, Config& config) {
  const std::string base = base_of(source, "transformer.");
  // ALiBi has no end; the length of the texts that it was trained on is not a key of the class.
  TransformerSpec spec = read_gpt_like(config, base, "bloom");
  const uint32_t heads = spec.layers[0].attention.heads;
  for (LayerSpec& layer : spec.layers) {
    layer.attention.qkv_by_group = true;
    layer.attention.slopes = alibi_slopes(heads);
  }
  spec.names.embedding_norm = base + "word_embeddings_layernorm";
  require_flag(config, "apply_residual_connection_post_layernorm", false);
  for (const char* unused :
       {"pretraining_tp", "slow_but_exact", "attention_softmax_in_fp32", "offset_alibi",
        "bias_dropout_fusion", "masked_softmax_fusion", "skip_bias_add", "skip_bias_add_qkv", "unk_token_id"})
    config.value(unused);
  return spec;
}

}  // namespace mote::convert
