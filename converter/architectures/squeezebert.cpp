// SPDX-License-Identifier: Apache-2.0
//
// SqueezeBERT (Iandola et al. 2020): BERT whose linears are in groups, of which each reads and writes its own
// columns.
#include <fmt/format.h>

#include "converter/architectures/shared/architecture.h"
#include "converter/layers/transformer_builder.h"

namespace mote::convert {
namespace {

/// Groups of each linear.
struct GroupCounts {
  uint32_t q, k, v, o, up, down;
};

uint32_t read_groups(Config& config, const char* key, uint32_t fallback, uint32_t in, uint32_t out) {
  const uint32_t groups = config.size(key, 1, kMaxSize, fallback);
  if (in % groups != 0 || out % groups != 0)
    config.refuse("{} {} does not divide the widths {} and {}", key, groups, in, out);
  return groups;
}

/// Attention, then the feed-forward, each with a norm of the sum.
void build_layer(TransformerBuilder& builder, const LayerSpec& layer, const GroupCounts& groups) {
  const auto of_layer = [&](const std::string& name) {
    return fmt::format(fmt::runtime(name), layer.weights);
  };
  const std::string prefix = of_layer(layer.names.label);
  const auto linear = [&](const char* label, const std::string& name, uint32_t count, View in, View out,
                          Activation activation, std::optional<View> residual = std::nullopt) {
    builder.grouped_linear(prefix + label, of_layer(name), count, in, out, activation, residual);
  };
  const LayerNames& names = layer.names;
  const View x = builder.x();
  const uint32_t width = x.width;
  const View all = builder.new_value(3 * width, Unit::token);
  linear("q", names.q, groups.q, x, columns(all, 0, width), Activation::none);
  linear("k", names.k, groups.k, x, columns(all, width, width), Activation::none);
  linear("v", names.v, groups.v, x, columns(all, 2 * width, width), Activation::none);
  const View heads = builder.attend_heads(layer, columns(all, 0, width), columns(all, width, width),
                                          columns(all, 2 * width, width));
  linear("o", names.o, groups.o, heads, x, Activation::none, x);
  builder.norm(prefix + "attention_norm", of_layer(names.attention_norms.sum), x, x);
  const View inner = builder.new_value(layer.ffn.width, Unit::token);
  linear("up", names.up, groups.up, x, inner, layer.ffn.activation);
  linear("down", names.down, groups.down, inner, x, Activation::none, x);
  builder.norm(prefix + "ffn_norm", of_layer(names.ffn_norms.sum), x, x);
}

}  // namespace

TransformerSpec read_squeezebert(const Source& source, Config& config) {
  const std::string base = base_of(source, "transformer.");
  TransformerSpec spec = read_bert_like(source, config, base, {});
  const uint32_t width = spec.width, ffn = spec.layers[0].ffn.width;
  if (config.size("embedding_size", 1, kMaxSize, 768) != width)
    config.refuse("embedding_size is not hidden_size, which the original refuses too");
  const GroupCounts groups = {read_groups(config, "q_groups", 4, width, width),
                              read_groups(config, "k_groups", 4, width, width),
                              read_groups(config, "v_groups", 4, width, width),
                              read_groups(config, "post_attention_groups", 1, width, width),
                              read_groups(config, "intermediate_groups", 4, width, ffn),
                              read_groups(config, "output_groups", 4, ffn, width)};
  const LayerNames names = post_norm_names(
      base + "encoder.layers.{}.",
      {"attention.query", "attention.key", "attention.value", "post_attention.conv1d",
       "post_attention.layernorm", "intermediate.conv1d", "output.conv1d", "output.layernorm"});
  for (LayerSpec& layer : spec.layers) {
    layer.names = names;
    layer.build = [groups](TransformerBuilder& builder, const LayerSpec& own) {
      build_layer(builder, own, groups);
    };
  }
  HeadNames heads = bert_heads(base, spec);
  set_bert_masked(spec, heads);
  read_head(source, config, heads, spec);
  return spec;
}

}  // namespace mote::convert
