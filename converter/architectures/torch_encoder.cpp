// SPDX-License-Identifier: Apache-2.0
//
// torch.nn.TransformerEncoder between a learned embedding with positions and a pooled classifier: what people
// train without a library of models. The config has the names of PyTorch's arguments; weights have PyTorch's
// names, but self_attn.in_proj.weight with a dot as everywhere else.
#include "converter/architectures/shared/architecture.h"

namespace mote::convert {

namespace {

LayerSpec torch_layer(Config& config, uint32_t width) {
  LayerSpec layer;
  layer.attention = equal_heads(config, width, config.size("nhead", 1, kMaxSize), "d_model", "nhead");
  layer.ffn = {Ffn::plain, read_activation(config, "activation", "relu"),
               config.size("dim_feedforward", 1, kMaxSize, 2048), true};
  const std::string prefix = "encoder.layers.{}.";
  LayerNames& names = layer.names;
  names.qkv = prefix + "self_attn.in_proj";
  names.o = prefix + "self_attn.out_proj";
  names.up = prefix + "linear1";
  names.down = prefix + "linear2";
  const bool first = config.flag("norm_first", false);
  (first ? names.attention_norms.before : names.attention_norms.sum) = prefix + "norm1";
  (first ? names.ffn_norms.before : names.ffn_norms.sum) = prefix + "norm2";
  return layer;
}

}  // namespace

TransformerSpec read_torch_encoder(const Source& source, Config& config) {
  TransformerSpec spec{};
  spec.vocab = config.size("vocab_size", 1, kMaxSize);
  spec.width = config.size("d_model", 1, kMaxSize);
  spec.repeat(torch_layer(config, spec.width), config.size("num_layers", 1, kMaxLayers));
  set_positions(source, config, config.size("max_position", 1, kMaxSize), 0, spec);
  set_layer_norms(config, 1e-5, spec);
  spec.optional_biases = true;

  WeightNames& names = spec.names;
  names.embedding = "token_embedding";
  names.positions = "position_embedding";
  if (source.tensors.count("encoder.norm.weight") != 0) names.final_norm = "encoder.norm";
  HeadNames heads;
  heads.pooler = "pooler";
  heads.classifier = {"pooler", "", Activation::tanh, spec.width};
  read_head(source, config, heads, spec);
  return spec;
}

}  // namespace mote::convert
