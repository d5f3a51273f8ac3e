// SPDX-License-Identifier: Apache-2.0
//
// torch.nn.TransformerEncoder between a learned embedding with positions and a pooled classifier: what people
// train without a library of models. The config has the names of PyTorch's arguments; weights have PyTorch's
// names, but self_attn.in_proj.weight with a dot as everywhere else.
#include "converter/architectures/architecture.h"

namespace mote::convert {

TransformerSpec read_torch_encoder(const Source& source, Config& config) {
  TransformerSpec spec{};
  spec.vocab = config.size("vocab_size", 1, kMaxSize);
  spec.width = config.size("d_model", 1, kMaxSize);
  spec.layers = config.size("num_layers", 1, kMaxLayers);
  spec.heads = config.size("nhead", 1, kMaxSize);
  spec.ffn_width = config.size("dim_feedforward", 1, kMaxSize, 2048);
  set_equal_heads(config, spec, "d_model", "nhead");
  set_positions(source, config, config.size("max_position", 1, kMaxSize), 0, spec);
  spec.norm = NormKind::layer;
  spec.norm_eps = static_cast<float>(config.number("layer_norm_eps", 1e-5));
  spec.norm_after = !config.flag("norm_first", false);
  spec.norm_bias = spec.qkv_bias = spec.o_bias = spec.ffn_bias = true;
  spec.ffn = Ffn::plain;
  spec.activation = read_activation(config, "activation", "relu");

  WeightNames& names = spec.names;
  names.embedding = "token_embedding";
  names.positions = "position_embedding";
  const std::string layer = "encoder.layers.{}.";
  names.qkv = layer + "self_attn.in_proj";
  names.o = layer + "self_attn.out_proj";
  names.attention_norm = layer + "norm1";
  names.up = layer + "linear1";
  names.down = layer + "linear2";
  names.ffn_norm = layer + "norm2";
  if (source.tensors.count("encoder.norm.weight") != 0) names.final_norm = "encoder.norm";
  HeadNames heads;
  heads.pooler = "pooler";
  heads.classifier = {"pooler", "", Activation::tanh, spec.width};
  read_head(source, config, heads, spec);
  return spec;
}

}  // namespace mote::convert
