// SPDX-License-Identifier: Apache-2.0
//
// Models of an encoder and a decoder: the encoder is a program of whole sequences. It ends with the keys and
// values that the decoder's layers attend to, so these are computed once for each source.
#include <fmt/format.h>

#include <utility>

#include "converter/layers/transformer_builder.h"

namespace mote::convert {
namespace {

constexpr int32_t kSourceProgram = 1;

/// Rows [first, first + count) of a projection of one part.
Projection projection_rows(Projection whole, const char* label, uint32_t first, uint32_t count) {
  whole.label = label;
  whole.parts[0].first_row = first;
  whole.parts[0].rows = count;
  if (whole.bias) {
    const auto from = whole.bias->begin() + first;
    whole.bias = std::vector<float>(from, from + count);
  }
  return whole;
}

}  // namespace

Projection TransformerBuilder::cross_projection(const LayerSpec& cross, const char* label,
                                                const std::string& name, uint32_t first, uint32_t rows,
                                                uint32_t cols) {
  const AttentionSpec& attention = cross.attention;
  if (cross.names.qkv.empty())
    return projection(label, of_layer(name, cross), rows, cols, Role::matrix, attention.qkv_bias);
  const uint32_t all = attention.q_width() + attention.k_width() + attention.v_width();
  return projection_rows(
      projection(label, of_layer(cross.names.qkv, cross), all, cols, Role::matrix, attention.qkv_bias), label,
      first, rows);
}

uint32_t TransformerBuilder::keep_source(const LayerSpec& cross, BlockInput& in) {
  const AttentionSpec& attention = cross.attention;
  const uint32_t k_width = attention.k_width(), v_width = attention.v_width();
  const View both = new_value(k_width + v_width, graph_.values[in.f32.value].unit);
  std::vector<Projection> projections;
  const uint32_t q_width = attention.q_width(), cols = in.f32.width;
  projections.push_back(cross_projection(cross, "k", cross.names.k, q_width, k_width, cols));
  projections.push_back(cross_projection(cross, "v", cross.names.v, q_width + k_width, v_width, cols));
  linears(prefix_of(cross), in, std::move(projections), both, Activation::none, std::nullopt);
  Cache state{attention.kv_heads, attention.head_dim, 0, true, attention.value_width()};
  state.source = kSourceProgram;
  state.ratio = row_tokens_;
  const uint32_t index = add_state(state);
  add(KvStoreNode{index, columns(both, 0, k_width), columns(both, k_width, v_width)});
  return index;
}

View TransformerBuilder::attended_source() {
  const WeightNames& names = spec_.names;
  View rows = x_;
  if (!names.source_positions.empty()) {
    rows = new_value(x_.width, Unit::token);
    add(ScaleRowsNode{x_, rows});
    const uint32_t count = spec_.most_layer_rows();
    std::vector<float> table = tensors_.table(names.source_positions + ".weight", count, x_.width);
    add(PositionsNode{
        add_weight({"source_positions", DType::f32, true, count, x_.width, {}, std::move(table)}), rows});
  }
  if (names.source_projection.empty()) return rows;
  const View projected = new_value(spec_.output_width, Unit::token);
  linear("source_projection", names.source_projection, Role::matrix, rows, projected, Activation::none,
         false);
  return projected;
}

TransformerBuilder::Source TransformerBuilder::build_source(const TransformerSpec& decoder) {
  embed_and_layers();
  if (!spec_.names.final_norm.empty()) norm("final_norm", spec_.names.final_norm, x_, x_);
  probe(fmt::format("hidden.{}", spec_.layers.size()), x_);
  x_ = project_output(x_);
  Source source;
  source.states.assign(decoder.layers.size(), kNone);
  BlockInput in{attended_source()};
  for (size_t i = 0; i < decoder.layers.size(); ++i) {
    if (!decoder.layers[i].cross) continue;
    LayerSpec cross = *decoder.layers[i].cross;
    cross.weights = decoder.layers[i].weights;
    source.states[i] = keep_source(cross, in);
  }
  graph_.name = "encode";
  graph_.output_kind = OutputKind::hidden;
  graph_.output = new_value(x_.width, Unit::selected);
  add(SelectNode{x_, graph_.output});
  graph_.ProgramGraph::context = spec_.context;
  graph_.sound = spec_.sound;
  source.graph = std::move(graph_);
  ProgramGraph& first = source.graph;
  ProgramGraph program = std::move(first);
  first = {};
  source.graph.more_programs.push_back(std::move(program));
  return source;
}

void TransformerBuilder::use_source(Source source) {
  graph_ = std::move(source.graph);
  source_states_ = std::move(source.states);
}

void TransformerBuilder::cross_attention(const LayerSpec& cross) {
  const BranchNorms& norms = cross.names.attention_norms;
  const std::string label = "attention";
  BlockInput in = branch_input(cross, norms, label);
  const AttentionSpec& attention = cross.attention;
  const View q = new_value(attention.q_width(), Unit::token);
  std::vector<Projection> projections;
  projections.push_back(cross_projection(cross, "q", cross.names.q, 0, attention.q_width(), in.f32.width));
  linears(prefix_of(cross), in, std::move(projections), q, Activation::none, std::nullopt);
  const View heads = attend(cross, source_states_[layer_index_], q);
  add_branch(cross, norms, label, heads, o(cross));
}

}  // namespace mote::convert
