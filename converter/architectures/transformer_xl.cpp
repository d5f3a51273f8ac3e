// SPDX-License-Identifier: Apache-2.0
//
// Transformer-XL (Dai et al. 2019): post-norm layers whose keys have a part by distance, with a bias of the
// queries for contents and one for distances. A segment sees so many tokens of those before it
// (memory_length).
#include <cmath>

#include "converter/architectures/shared/classic_stack.h"
#include "converter/architectures/shared/relative_attention.h"

namespace mote::convert {
namespace {

constexpr uint32_t kXlContext = 1024;  // all segments together; the original has no limit

struct XlStack {
  uint32_t width, heads, head_dim, reach;
};

/// Rows of distances 0, 1, ...: sines, then cosines.
std::vector<float> distance_sines(const XlStack& own) {
  charge_table({own.reach, own.width});
  const std::vector<float> frequencies = sine_frequencies(own.width);
  std::vector<float> rows;
  for (uint32_t distance = 0; distance < own.reach; ++distance) {
    for (const float frequency : frequencies)
      rows.push_back(std::sin(static_cast<float>(distance) * frequency));
    for (const float frequency : frequencies)
      rows.push_back(std::cos(static_cast<float>(distance) * frequency));
  }
  return rows;
}

/// The part by distance has the queries with the bias of contents; what they lack of the bias of distances is
/// a bias of the scores.
RelativeSpec xl_keys(const XlStack& own, TransformerBuilder& builder, const LayerSpec& layer) {
  TensorSet& tensors = builder.tensors();
  const auto table = [&](const char* name, uint32_t rows, uint32_t cols) {
    return tensors.table(of_layer(std::string("layers.{}.") + name, layer), rows, cols);
  };
  const std::vector<float> rows =
      project_rows(distance_sines(own), own.width, table("relative.weight", own.width, own.width), {});
  RelativeSpec relative;
  relative.keys = by_distance(rows, own.width, own.reach, [](int32_t distance) {
    return distance < 0 ? static_cast<uint32_t>(-distance) : 0;
  });
  const std::vector<float> contents = table("content_bias", own.heads, own.head_dim);
  const std::vector<float> distances = table("position_bias", own.heads, own.head_dim);
  const size_t columns = 2 * size_t{own.reach} - 1;
  relative.bias.resize(own.heads * columns);
  for (size_t row = 0; row < own.width; ++row) {
    const float lacking = (distances[row] - contents[row]) * layer.attention.scale;
    float* const bias = relative.bias.data() + row / own.head_dim * columns;
    for (size_t column = 0; column < columns; ++column)
      bias[column] += lacking * relative.keys[row * columns + column];
  }
  return relative;
}

void build_xl_attention(const XlStack& own, TransformerBuilder& builder, const LayerSpec& layer) {
  const BranchNorms& norms = layer.names.attention_norms;
  BlockInput in = builder.branch_input(layer, norms, "attention");
  const auto project = [&](const char* label, const std::string& name) {
    return builder.projection(label, of_layer(name, layer), own.width, in.f32.width, Role::matrix, false);
  };
  Projection q = project("q", layer.names.q), k = project("k", layer.names.k),
             v = project("v", layer.names.v);
  q.bias = builder.tensors().table(of_layer("layers.{}.content_bias", layer), own.heads, own.head_dim);
  const View all = builder.new_value(3 * own.width, Unit::token);
  builder.linears(prefix_of(layer), in, {std::move(q), std::move(k), std::move(v)}, all, Activation::none,
                  std::nullopt);
  const View heads =
      builder.attend_heads(layer, columns(all, 0, own.width), columns(all, own.width, own.width),
                           columns(all, 2 * own.width, own.width));
  builder.add_branch(layer, norms, "attention", heads, builder.o(layer));
}

}  // namespace

TransformerSpec read_transformer_xl(const Source&, Config& config) {
  TransformerSpec spec = read_pre_norm_stack(config);
  if (spec.width % 2 != 0) config.refuse("hidden_size {} is odd", spec.width);
  spec.context = kXlContext;
  spec.memory = config.size("memory_length", 1, kXlContext - 1);
  spec.embedding_multiplier = std::sqrt(static_cast<float>(spec.width));
  spec.names.final_norm.clear();
  const AttentionSpec& attention = spec.layers[0].attention;
  const XlStack own{spec.width, attention.heads, attention.head_dim, relative_reach(kXlContext)};
  for (LayerSpec& layer : spec.layers) {
    const std::string prefix = "layers.{}.";
    layer.names.q = prefix + "query";
    layer.names.k = prefix + "key";
    layer.names.v = prefix + "value";
    layer.names.o = prefix + "output";
    put_norms_behind(layer.names);
    layer.attention.qkv_bias = layer.attention.o_bias = false;
    layer.attention.relative = [own](TransformerBuilder& builder, const LayerSpec& self) {
      return xl_keys(own, builder, self);
    };
    layer.build = [own](TransformerBuilder& builder, const LayerSpec& self) {
      build_xl_attention(own, builder, self);
      builder.ffn(self);
    };
  }
  set_token_logits(spec, true);
  return spec;
}

}  // namespace mote::convert
