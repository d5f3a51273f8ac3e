// SPDX-License-Identifier: Apache-2.0
//
// An encoder with relative positions in keys and values (Shaw et al. 2018), with logits for each token.
#include <fmt/format.h>

#include "converter/architectures/classic_stack.h"

namespace mote::convert {
namespace {

View attend_by_distance(TransformerBuilder& builder, const LayerSpec& layer, uint32_t reach, BlockInput& in) {
  const AttentionSpec& attention = layer.attention;
  const uint32_t width = attention.q_width(), rows = 2 * reach + 1;
  const std::string prefix = prefix_of(layer);
  std::vector<Projection> projections;
  for (const auto& [label, name] :
       {std::pair{"q", layer.names.q}, std::pair{"k", layer.names.k}, std::pair{"v", layer.names.v}}) {
    projections.push_back(
        builder.projection(label, of_layer(name, layer), width, in.f32.width, Role::matrix, true));
  }
  const View all = builder.new_value(3 * width, Unit::token);
  builder.linears(prefix, in, std::move(projections), all, Activation::none, std::nullopt);
  const auto table = [&](const char* what) {
    const std::string name = fmt::format("layers.{}.attention.{}_positions", layer.weights, what);
    return builder.add_weight({prefix + what + "_positions",
                               DType::f32,
                               true,
                               rows,
                               attention.head_dim,
                               {},
                               builder.tensors().table(name, rows, attention.head_dim)});
  };
  const int32_t keys = table("key"), values = table("value");
  const View out = builder.new_value(width, Unit::token);
  builder.add(ShawAttentionNode{attention.heads, attention.scale, true, keys, values, columns(all, 0, width),
                                columns(all, width, width), columns(all, 2 * width, width), out});
  return out;
}

}  // namespace

TransformerSpec read_attention_shaw(const Source&, Config& config) {
  TransformerSpec spec = read_pre_norm_stack(config);
  if (config.flag("causal", false)) config.refuse("causal is true; relative positions are of whole texts");
  const uint32_t reach = config.size("max_relative_position", 0, kMaxSize / 4);
  set_token_logits(spec, false);
  for (LayerSpec& layer : spec.layers) {
    layer.build = [reach](TransformerBuilder& builder, const LayerSpec& self) {
      const BranchNorms& norms = self.names.attention_norms;
      BlockInput in = builder.branch_input(self, norms, "attention");
      const View heads = attend_by_distance(builder, self, reach, in);
      builder.add_branch(self, norms, "attention", heads, builder.o(self));
      builder.ffn(self);
    };
  }
  return spec;
}

}  // namespace mote::convert
