// SPDX-License-Identifier: Apache-2.0
//
// Fusion happens here: weights that read the same input become one linear, a norm is quantized once for all
// its readers, residuals are added by the linear that ends a block.
#include "converter/build_transformer.h"

#include <algorithm>
#include <array>
#include <utility>

#include "converter/error.h"

namespace mote::convert {
namespace {

bool takes_quantized(DType weight) { return activation_dtype(weight) != DType::f32; }

/// A linear's weight and bias by their name in the source.
struct Projection {
  std::string label;  // in the file's names
  WeightPart part;
  DType dtype;
  std::optional<std::vector<float>> bias;
};

class Builder {
 public:
  Builder(const TransformerSpec& spec, const TypePolicy& policy, TensorSet& tensors)
      : spec_(spec), policy_(policy), tensors_(tensors) {}

  Graph build();

 private:
  // ---- Weights ----

  int32_t add_weight(Weight weight) {
    graph_.weights.push_back(std::move(weight));
    return static_cast<int32_t>(graph_.weights.size() - 1);
  }
  int32_t add_vector(const std::string& name, std::vector<float> values) {
    const uint32_t width = static_cast<uint32_t>(values.size());
    return add_weight({name, DType::f32, true, 1, width, {}, std::move(values)});
  }
  int32_t add_matrix(const std::string& name, DType dtype, bool row_major, uint32_t cols,
                     std::vector<WeightPart> parts) {
    uint32_t rows = 0;
    for (const WeightPart& part : parts) rows += part.rows;
    return add_weight({name, dtype, row_major, rows, cols, std::move(parts), {}});
  }
  Projection projection(const std::string& label, const std::string& source, uint32_t rows, uint32_t cols,
                        Role role, bool bias_required) {
    WeightPart part =
        tensors_.matrix(source + ".weight", rows, cols, spec_.transposed && role == Role::matrix);
    const DType dtype = policy_.dtype(role, *part.tensor);
    std::optional<std::vector<float>> bias;
    if (bias_required || tensors_.has(source + ".bias")) bias = tensors_.vector(source + ".bias", rows);
    return {label, std::move(part), dtype, std::move(bias)};
  }

  // ---- Operations ----

  View new_value(uint32_t width, DType dtype, Unit unit) {
    graph_.values.push_back({width, dtype, unit});
    return {static_cast<uint32_t>(graph_.values.size() - 1), 0, width};
  }
  void add(Node node) { graph_.nodes.push_back(std::move(node)); }
  void probe(uint32_t layer, View view) {
    graph_.probes.push_back(
        {fmt::format("hidden.{}", layer), static_cast<uint32_t>(graph_.nodes.size() - 1), view});
  }

  /// norm(in) by the spec's kind; `source` and `label` name its weight.
  void norm(NormKind kind, const std::string& label, const std::string& source, uint32_t groups, View in,
            View out) {
    const uint32_t width = in.width / groups;
    const int32_t weight = add_vector(label, tensors_.vector(source + ".weight", width));
    const bool has_bias = kind == NormKind::layer && spec_.norm_bias;
    const int32_t bias =
        has_bias ? add_vector(label + ".bias", tensors_.vector(source + ".bias", width)) : -1;
    add(NormNode{kind, spec_.norm_eps, groups, weight, bias, in, out});
  }

  /// `in` for weights of several types: quantized at most once in each way.
  struct Input {
    View f32;
    std::array<std::optional<View>, kDTypeCount> quantized;
  };
  View input_for(Input& input, DType weight) {
    if (!takes_quantized(weight)) return input.f32;
    const DType dtype = activation_dtype(weight);
    std::optional<View>& quantized = input.quantized[static_cast<size_t>(dtype)];
    if (!quantized) {
      quantized = new_value(input.f32.width, dtype, graph_.values[input.f32.value].unit);
      add(QuantizeNode{input.f32, *quantized});
    }
    return *quantized;
  }

  /// Neighbours of one type become one linear; each writes its columns of `out`.
  void linears(const std::string& prefix, View in, std::vector<Projection> projections, View out,
               Activation activation, std::optional<View> residual);
  void linear(const std::string& prefix, Input& in, std::span<Projection> fused, View out,
              Activation activation, std::optional<View> residual);

  void embed();
  void attention(uint32_t layer);
  void ffn(uint32_t layer);
  void head();

  const TransformerSpec& spec_;
  const TypePolicy& policy_;
  TensorSet& tensors_;
  Graph graph_;
  View x_{};  // the residual stream
  View rope_table_{};
  int32_t table_ = -1;  // the embedding
};

std::string of_layer(const std::string& pattern, uint32_t layer) {
  return fmt::format(fmt::runtime(pattern), layer);
}

View columns(View view, uint32_t column, uint32_t width) { return {view.value, view.column + column, width}; }

void Builder::linear(const std::string& prefix, Input& in, std::span<Projection> fused, View out,
                     Activation activation, std::optional<View> residual) {
  std::string label = prefix;
  std::vector<WeightPart> parts;
  std::vector<float> bias;
  bool has_bias = false;
  for (const Projection& projection : fused) {
    label += (parts.empty() ? "" : "+") + projection.label;
    parts.push_back(projection.part);
    has_bias = has_bias || projection.bias.has_value();
    const std::vector<float> zeros(projection.part.rows, 0.0f);
    const std::vector<float>& values = projection.bias ? *projection.bias : zeros;
    bias.insert(bias.end(), values.begin(), values.end());
  }
  const View input = input_for(in, fused[0].dtype);
  const int32_t weight = add_matrix(label, fused[0].dtype, false, in.f32.width, std::move(parts));
  const int32_t bias_index = has_bias ? add_vector(label + ".bias", std::move(bias)) : -1;
  add(LinearNode{weight, bias_index, activation, input, out, residual});
}

void Builder::linears(const std::string& prefix, View in, std::vector<Projection> projections, View out,
                      Activation activation, std::optional<View> residual) {
  Input input{in, {}};
  uint32_t column = 0;
  for (size_t first = 0; first < projections.size();) {
    size_t end = first;
    uint32_t width = 0;
    for (; end < projections.size() && projections[end].dtype == projections[first].dtype; ++end) {
      width += projections[end].part.rows;
    }
    linear(prefix, input, std::span(projections).subspan(first, end - first), columns(out, column, width),
           activation, residual);
    column += width;
    first = end;
  }
}

void Builder::embed() {
  x_ = new_value(spec_.width, DType::f32, Unit::token);
  WeightPart part = tensors_.matrix(spec_.names.embedding + ".weight", spec_.vocab, spec_.width, false);
  const DType dtype = policy_.dtype(Role::embedding, *part.tensor);
  // A table that is only looked up stays in rows where rows can hold its type.
  const bool row_major = !spec_.tied_embedding && !takes_quantized(dtype);
  table_ = add_matrix("embedding", dtype, row_major, spec_.width, {std::move(part)});
  add(EmbedNode{table_, x_});
  if (spec_.positions == Positions::learned) {
    WeightPart rows = tensors_.matrix(spec_.names.positions + ".weight", spec_.context, spec_.width, false);
    const DType type = policy_.dtype(Role::positions, *rows.tensor);
    add(PositionsNode{add_matrix("positions", type, true, spec_.width, {std::move(rows)}), x_});
  }
  probe(0, x_);
  if (spec_.positions == Positions::rope) {
    const int32_t frequencies = add_vector("rope_frequencies", spec_.rope.frequencies);
    rope_table_ =
        new_value(2 * static_cast<uint32_t>(spec_.rope.frequencies.size()), DType::f32, Unit::token);
    add(RopeTableNode{frequencies, spec_.rope.scale, rope_table_});
  }
}

void Builder::attention(uint32_t layer) {
  const WeightNames& names = spec_.names;
  const std::string prefix = fmt::format("layer.{}.", layer);
  const uint32_t q_width = spec_.heads * spec_.head_dim;
  const uint32_t kv_width = spec_.kv_heads * spec_.head_dim;
  const View normed = new_value(spec_.width, DType::f32, Unit::token);
  norm(spec_.norm, prefix + "attention_norm", of_layer(names.attention_norm, layer), 1, x_, normed);

  std::vector<Projection> projections;
  const auto project = [&](const char* label, const std::string& name, uint32_t rows) {
    projections.push_back(
        projection(label, of_layer(name, layer), rows, spec_.width, Role::matrix, spec_.qkv_bias));
  };
  if (names.qkv.empty()) {
    project("q", names.q, q_width);
    project("k", names.k, kv_width);
    project("v", names.v, kv_width);
  } else {
    project("qkv", names.qkv, q_width + 2 * kv_width);
  }
  const View qkv = new_value(q_width + 2 * kv_width, DType::f32, Unit::token);
  linears(prefix, normed, std::move(projections), qkv, Activation::none, std::nullopt);
  const View q = columns(qkv, 0, q_width);
  const View k = columns(qkv, q_width, kv_width);
  const View v = columns(qkv, q_width + kv_width, kv_width);

  if (spec_.qk_norm) {
    norm(NormKind::rms, prefix + "q_norm", of_layer(names.q_norm, layer), spec_.heads, q, q);
    norm(NormKind::rms, prefix + "k_norm", of_layer(names.k_norm, layer), spec_.kv_heads, k, k);
  }
  if (spec_.positions == Positions::rope) {
    add(RopeNode{spec_.rope.kind, spec_.heads, rope_table_, q});
    add(RopeNode{spec_.rope.kind, spec_.kv_heads, rope_table_, k});
  }
  // A window that holds the whole context is none, and saves the ring.
  const uint32_t window = spec_.windows[layer] >= spec_.context ? 0 : spec_.windows[layer];
  graph_.caches.push_back({spec_.kv_heads, spec_.head_dim, window});
  add(KvStoreNode{layer, k, v});
  const View attended = new_value(q_width, DType::f32, Unit::token);
  add(AttentionNode{layer, spec_.heads, spec_.attention_scales[layer], q, attended});
  linears(prefix, attended,
          {projection("o", of_layer(names.o, layer), spec_.width, q_width, Role::matrix, spec_.o_bias)}, x_,
          Activation::none, x_);
}

void Builder::ffn(uint32_t layer) {
  const WeightNames& names = spec_.names;
  const std::string prefix = fmt::format("layer.{}.", layer);
  const uint32_t width = spec_.ffn_width;
  const View normed = new_value(spec_.width, DType::f32, Unit::token);
  norm(spec_.norm, prefix + "ffn_norm", of_layer(names.ffn_norm, layer), 1, x_, normed);
  View inner;
  Projection up =
      projection("up", of_layer(names.up, layer), width, spec_.width, Role::matrix, spec_.ffn_bias);
  if (spec_.ffn == Ffn::gated) {
    const View both = new_value(2 * width, DType::f32, Unit::token);
    Projection gate =
        projection("gate", of_layer(names.gate, layer), width, spec_.width, Role::matrix, spec_.ffn_bias);
    linears(prefix, normed, {std::move(gate), std::move(up)}, both, Activation::none, std::nullopt);
    inner = columns(both, 0, width);
    add(GateNode{spec_.activation, inner, columns(both, width, width), inner});
  } else {
    inner = new_value(width, DType::f32, Unit::token);
    linears(prefix, normed, {std::move(up)}, inner, spec_.activation, std::nullopt);
  }
  linears(prefix, inner,
          {projection("down", of_layer(names.down, layer), spec_.width, width, Role::matrix, spec_.ffn_bias)},
          x_, Activation::none, x_);
  if (layer + 1 < spec_.layers) probe(layer + 1, x_);
}

void Builder::head() {
  const View last = new_value(spec_.width, DType::f32, Unit::selected);
  add(SelectNode{x_, last});
  norm(spec_.norm, "final_norm", spec_.names.final_norm, 1, last, last);
  probe(spec_.layers, last);
  graph_.output = new_value(spec_.vocab, DType::f32, Unit::selected);
  if (spec_.tied_embedding) {
    tensors_.ignore(spec_.names.head + ".weight");
    Input input{last, {}};
    const View in = input_for(input, graph_.weights[static_cast<size_t>(table_)].dtype);
    add(LinearNode{table_, -1, Activation::none, in, graph_.output, std::nullopt});
  } else {
    linears("", last, {projection("head", spec_.names.head, spec_.vocab, spec_.width, Role::head, false)},
            graph_.output, Activation::none, std::nullopt);
  }
}

Graph Builder::build() {
  graph_.vocab = spec_.vocab;
  graph_.width = spec_.width;
  graph_.context = spec_.context;
  graph_.bos_id = spec_.bos_id;
  embed();
  for (uint32_t layer = 0; layer < spec_.layers; ++layer) {
    attention(layer);
    ffn(layer);
  }
  head();
  tensors_.finish(spec_.names.ignored);
  return std::move(graph_);
}

}  // namespace

Graph build_transformer(const TransformerSpec& spec, const TypePolicy& policy, TensorSet& tensors) {
  return Builder(spec, policy, tensors).build();
}

}  // namespace mote::convert
