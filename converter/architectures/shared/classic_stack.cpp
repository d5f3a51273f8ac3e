// SPDX-License-Identifier: Apache-2.0
#include "converter/architectures/shared/classic_stack.h"

#include <cmath>
#include <utility>

namespace mote::convert {
namespace {

constexpr uint32_t kWholeText = 4096;  // tokens, of encoders whose config has no longest text

}  // namespace

std::vector<float> sine_frequencies(uint32_t width) {
  std::vector<float> frequencies(width / 2);
  for (uint32_t i = 0; i < width / 2; ++i) {
    const float exponent = static_cast<float>(2 * i) / static_cast<float>(width);
    frequencies[i] = std::pow(10000.0f, -exponent);
  }
  return frequencies;
}

TransformerSpec read_pre_norm_stack(Config& config) {
  TransformerSpec spec{};
  spec.vocab = config.size("vocab_size", 1, kMaxSize);
  spec.width = config.size("hidden_size", 1, kMaxSize);
  spec.context = kWholeText;
  set_layer_norms(1e-5, spec);
  spec.last_hidden_unnormed = true;
  spec.names.embedding = "embedding";
  spec.names.final_norm = "norm";
  spec.names.head = "head";
  spec.head.output_bias = "head.bias";
  LayerSpec layer;
  layer.attention =
      equal_heads(config, spec.width, config.size("num_heads", 1, kMaxSize), "hidden_size", "num_heads");
  layer.ffn = {Ffn::plain, Activation::relu, config.size("intermediate_size", 1, kMaxSize), true};
  layer.names = pre_norm_names("layers.{}.", {"attention.query", "attention.key", "attention.value",
                                              "attention.output", "norm1", "linear1", "linear2", "norm2"});
  spec.repeat(layer, config.size("num_layers", 1, kMaxLayers));
  if (config.flag("sinusoidal_positions", false)) {
    if (spec.width % 2 != 0) config.refuse("hidden_size {} is odd and sinusoidal_positions true", spec.width);
    spec.sines = sine_frequencies(spec.width);
  }
  return spec;
}

View project_heads(TransformerBuilder& builder, const LayerSpec& layer, BlockInput& in) {
  const uint32_t width = layer.attention.q_width();
  std::vector<Projection> projections;
  for (const auto& [label, name] :
       {std::pair{"q", layer.names.q}, std::pair{"k", layer.names.k}, std::pair{"v", layer.names.v}}) {
    projections.push_back(builder.projection(label, of_layer(name, layer), width, in.f32.width, Role::matrix,
                                             layer.attention.qkv_bias));
  }
  const View all = builder.new_value(3 * width, Unit::token);
  builder.linears(prefix_of(layer), in, std::move(projections), all, Activation::none, std::nullopt);
  return all;
}

View attend_by_distance(TransformerBuilder& builder, const LayerSpec& layer, const DistanceTables& tables,
                        BlockInput& in) {
  const AttentionSpec& attention = layer.attention;
  const uint32_t width = attention.q_width(), rows = 2 * tables.reach + 1;
  const View all = project_heads(builder, layer, in);
  const auto table = [&](const char* name, const std::vector<float>& values) {
    return builder.add_weight(
        {prefix_of(layer) + name, DType::f32, true, rows, attention.head_dim, {}, values});
  };
  const int32_t keys = table("key_positions", tables.keys), values = table("value_positions", tables.values);
  const View out = builder.new_value(width, Unit::token);
  builder.add(ShawAttentionNode{attention.heads, attention.scale, tables.beyond, keys, values,
                                columns(all, 0, width), columns(all, width, width),
                                columns(all, 2 * width, width), out});
  return out;
}

void set_attention(TransformerSpec& spec, const Attend& attend) {
  for (LayerSpec& layer : spec.layers) {
    layer.build = [attend](TransformerBuilder& builder, const LayerSpec& self) {
      const BranchNorms& norms = self.names.attention_norms;
      BlockInput in = builder.branch_input(self, norms, "attention");
      const View heads = attend(builder, self, in);
      builder.add_branch(self, norms, "attention", heads, builder.o(self));
      builder.ffn(self);
    };
  }
}

void set_token_logits(TransformerSpec& spec, bool causal) {
  if (causal) return;
  spec.head.kind = OutputKind::masked_token;
  spec.head.output = "head";
}

}  // namespace mote::convert
