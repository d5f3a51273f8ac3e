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
  const View all = project_heads(builder, layer, in);
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
  set_attention(spec, [reach](TransformerBuilder& builder, const LayerSpec& layer, BlockInput& in) {
    return attend_by_distance(builder, layer, reach, in);
  });
  return spec;
}

}  // namespace mote::convert
