// SPDX-License-Identifier: Apache-2.0
//
// OPT (Zhang et al. 2022): learned positions from row 2 on, norms before or behind the branches, an embedding
// that may be narrower than the layers.
#include "converter/architectures/shared/architecture.h"

namespace mote::convert {

TransformerSpec read_opt(const Source& source, Config& config) {
  const std::string model = base_of(source, "model."), base = model + "decoder.";
  TransformerSpec spec = read_gpt_like(config, base, "opt");
  const bool bias = config.flag("enable_bias", true),
             weights = config.flag("layer_norm_elementwise_affine", true);
  const bool before = config.flag("do_layer_norm_before", true);
  const bool has_final_norm = !config.flag("_remove_final_layer_norm", false) && before;
  for (LayerSpec& layer : spec.layers) {
    layer.attention.qkv_bias = layer.attention.o_bias = layer.ffn.bias = bias;
    if (!weights) layer.names.attention_norms.before = layer.names.ffn_norms.before = kUnweighted;
    if (!before) put_norms_behind(layer.names);
  }
  WeightNames& names = spec.names;
  if (!has_final_norm) names.final_norm = "";
  if (has_final_norm && !weights) names.final_norm = kUnweighted;
  spec.first_position = 2;
  spec.position_rows = spec.context + spec.first_position;
  const uint32_t embedding = config.optional_size("word_embed_proj_dim", 1, kMaxSize).value_or(spec.width);
  if (embedding == spec.width) return spec;
  spec.embedding_width = spec.output_width = embedding;
  spec.embedding_projection_bias = false;
  spec.positions_after_projection = true;
  names.embedding_projection = base + "project_in";
  names.output_projection = base + "project_out";
  return spec;
}

}  // namespace mote::convert
