// SPDX-License-Identifier: Apache-2.0
#include "converter/build_transformer.h"

#include <algorithm>

#include "converter/error.h"
#include "converter/transformer_builder.h"

namespace mote::convert {
namespace {

std::string of_layer(const std::string& pattern, uint32_t layer) {
  return fmt::format(fmt::runtime(pattern), layer);
}

}  // namespace

// ---- Weights ----

int32_t TransformerBuilder::add_weight(Weight weight) {
  const auto same = std::find_if(graph_.weights.begin(), graph_.weights.end(),
                                 [&](const Weight& other) { return other.name == weight.name; });
  if (same != graph_.weights.end()) return static_cast<int32_t>(same - graph_.weights.begin());
  graph_.weights.push_back(std::move(weight));
  return static_cast<int32_t>(graph_.weights.size() - 1);
}

int32_t TransformerBuilder::add_vector(const std::string& name, std::vector<float> values) {
  const uint32_t width = static_cast<uint32_t>(values.size());
  return add_weight({name, DType::f32, true, 1, width, {}, std::move(values)});
}

int32_t TransformerBuilder::add_matrix(const std::string& name, DType dtype, bool row_major, uint32_t cols,
                                       std::vector<WeightPart> parts) {
  uint32_t rows = 0;
  for (const WeightPart& part : parts) rows += part.rows;
  return add_weight({name, dtype, row_major, rows, cols, std::move(parts), {}});
}

Projection TransformerBuilder::projection(const std::string& label, const std::string& source, uint32_t rows,
                                          uint32_t cols, Role role, bool bias_required) {
  WeightPart part = tensors_.matrix(source + ".weight", rows, cols, spec_.transposed && role == Role::matrix);
  const DType dtype = policy_.dtype(role, *part.tensor);
  std::optional<std::vector<float>> bias;
  if (bias_required || tensors_.has(source + ".bias")) bias = tensors_.vector(source + ".bias", rows);
  return {label, std::move(part), dtype, std::move(bias)};
}

// ---- Operations ----

View TransformerBuilder::new_value(uint32_t width, DType dtype, Unit unit) {
  graph_.values.push_back({width, dtype, unit});
  return {static_cast<uint32_t>(graph_.values.size() - 1), 0, width};
}

void TransformerBuilder::probe(const std::string& name, View view) {
  graph_.probes.push_back({name, static_cast<uint32_t>(graph_.nodes.size() - 1), view});
}

void TransformerBuilder::norm(NormKind kind, const std::string& label, const std::string& source,
                              uint32_t groups, View in, View out) {
  const uint32_t width = in.width / groups;
  const int32_t weight = add_vector(label, tensors_.vector(source + ".weight", width));
  const bool has_bias = kind == NormKind::layer && spec_.norm_bias;
  const int32_t bias = has_bias ? add_vector(label + ".bias", tensors_.vector(source + ".bias", width)) : -1;
  add(NormNode{kind, spec_.norm_eps, groups, weight, bias, in, out});
}

View TransformerBuilder::input_for(Input& input, DType weight) {
  if (!takes_quantized(weight)) return input.f32;
  const DType dtype = activation_dtype(weight);
  std::optional<View>& quantized = input.quantized[static_cast<size_t>(dtype)];
  if (!quantized) {
    quantized = new_value(input.f32.width, dtype, graph_.values[input.f32.value].unit);
    add(QuantizeNode{input.f32, *quantized});
  }
  return *quantized;
}

void TransformerBuilder::linear(const std::string& prefix, Input& in, std::span<Projection> fused, View out,
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

void TransformerBuilder::linears(const std::string& prefix, View in, std::vector<Projection> projections,
                                 View out, Activation activation, std::optional<View> residual) {
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

void TransformerBuilder::linear(const std::string& label, const std::string& source, Role role, View in,
                                View out, Activation activation, bool bias_required) {
  linears("", in, {projection(label, source, out.width, in.width, role, bias_required)}, out, activation,
          std::nullopt);
}

// ---- Blocks ----

void TransformerBuilder::add_rows(const std::string& label, const std::string& source, uint32_t source_rows,
                                  uint32_t first, uint32_t rows, RowIndex index) {
  WeightPart part = tensors_.matrix(source + ".weight", source_rows, x_.width, false);
  part.first_row = first;
  part.rows = rows;
  const DType dtype = policy_.dtype(Role::positions, *part.tensor);
  add(PositionsNode{add_matrix(label, dtype, true, x_.width, {std::move(part)}), x_, index});
}

void TransformerBuilder::embed() {
  const WeightNames& names = spec_.names;
  x_ = new_value(spec_.embedding_width != 0 ? spec_.embedding_width : spec_.width, Unit::token);
  WeightPart part = tensors_.matrix(names.embedding + ".weight", spec_.vocab, x_.width, false);
  const DType dtype = policy_.dtype(Role::embedding, *part.tensor);
  // A table that is only looked up stays in rows where rows can hold its type.
  const bool row_major = !spec_.tied_embedding && row_bytes(dtype, x_.width) != 0;
  table_ = add_matrix("embedding", dtype, row_major, x_.width, {std::move(part)});
  add(EmbedNode{table_, x_});
  if (spec_.token_types != 0) {
    add_rows("token_types", names.token_types, spec_.token_types, 0, spec_.token_types, RowIndex::token_type);
    graph_.token_types = spec_.token_types;
  }
  if (spec_.positions == Positions::learned) {
    const uint32_t rows = spec_.position_rows != 0 ? spec_.position_rows : spec_.context;
    add_rows("positions", names.positions, rows, spec_.first_position, spec_.context, RowIndex::position);
  }
  if (!names.embedding_norm.empty()) norm("embedding_norm", names.embedding_norm, x_, x_);
  if (!names.embedding_projection.empty()) {
    const View projected = new_value(spec_.width, Unit::token);
    linear("embedding_projection", names.embedding_projection, Role::matrix, x_, projected, Activation::none,
           true);
    x_ = projected;
  }
  probe("hidden.0", x_);
  if (spec_.positions == Positions::rope) {
    const int32_t frequencies = add_vector("rope_frequencies", spec_.rope.frequencies);
    rope_table_ = new_value(2 * static_cast<uint32_t>(spec_.rope.frequencies.size()), Unit::token);
    add(RopeTableNode{frequencies, spec_.rope.scale, rope_table_});
  }
  if (!spec_.attention_bias.empty()) {
    const auto cols = static_cast<uint32_t>(spec_.attention_bias.size() / spec_.heads);
    bias_ = add_weight({"attention_bias", DType::f32, true, spec_.heads, cols, {}, spec_.attention_bias});
  }
}

View TransformerBuilder::block_input(const std::string& label, const std::string& source) {
  if (spec_.norm_after) return x_;
  const View normed = new_value(spec_.width, Unit::token);
  norm(label, source, x_, normed);
  return normed;
}

void TransformerBuilder::block_output(const std::string& label, const std::string& source) {
  if (spec_.norm_after) norm(label, source, x_, x_);
}

View TransformerBuilder::qkv(uint32_t layer, View in) {
  const WeightNames& names = spec_.names;
  const uint32_t q_width = spec_.heads * spec_.head_dim;
  const uint32_t kv_width = spec_.kv_heads * spec_.head_dim;
  std::vector<Projection> projections;
  const auto project = [&](const char* label, const std::string& name, uint32_t rows) {
    projections.push_back(projection(label, of_layer(name, weights_of(layer)), rows, spec_.width,
                                     Role::matrix, spec_.qkv_bias));
  };
  if (names.qkv.empty()) {
    project("q", names.q, q_width);
    project("k", names.k, kv_width);
    project("v", names.v, kv_width);
  } else {
    project("qkv", names.qkv, q_width + 2 * kv_width);
  }
  const View out = new_value(q_width + 2 * kv_width, Unit::token);
  linears(of_layer("layer.{}.", weights_of(layer)), in, std::move(projections), out, Activation::none,
          std::nullopt);
  return out;
}

uint32_t TransformerBuilder::cache_of(uint32_t layer) {
  const bool encoder = spec_.is_encoder();
  if (encoder && !graph_.caches.empty()) return 0;  // no layer needs another's
  // A window that holds the whole context is none, and saves the ring.
  const uint32_t window = spec_.windows[layer] >= spec_.context ? 0 : spec_.windows[layer];
  graph_.caches.push_back({spec_.kv_heads, spec_.head_dim, window, encoder});
  return static_cast<uint32_t>(graph_.caches.size() - 1);
}

void TransformerBuilder::attention(uint32_t layer) {
  const WeightNames& names = spec_.names;
  const uint32_t shared = weights_of(layer);
  const std::string prefix = of_layer("layer.{}.", shared),
                    norm_name = of_layer(names.attention_norm, shared);
  const uint32_t q_width = spec_.heads * spec_.head_dim;
  const uint32_t kv_width = spec_.kv_heads * spec_.head_dim;
  const View all = qkv(layer, block_input(prefix + "attention_norm", norm_name));
  const View q = columns(all, 0, q_width);
  const View k = columns(all, q_width, kv_width);
  const View v = columns(all, q_width + kv_width, kv_width);

  if (spec_.qk_norm) {
    norm(NormKind::rms, prefix + "q_norm", of_layer(names.q_norm, shared), spec_.heads, q, q);
    norm(NormKind::rms, prefix + "k_norm", of_layer(names.k_norm, shared), spec_.kv_heads, k, k);
  }
  if (spec_.positions == Positions::rope) {
    add(RopeNode{spec_.rope.kind, spec_.heads, rope_table_, q});
    add(RopeNode{spec_.rope.kind, spec_.kv_heads, rope_table_, k});
  }
  const uint32_t cache = cache_of(layer);
  add(KvStoreNode{cache, k, v});
  const View attended = new_value(q_width, Unit::token);
  add(AttentionNode{cache, spec_.heads, spec_.attention_scales[layer], q, attended, bias_});
  linears(prefix, attended,
          {projection("o", of_layer(names.o, shared), spec_.width, q_width, Role::matrix, spec_.o_bias)}, x_,
          Activation::none, x_);
  block_output(prefix + "attention_norm", norm_name);
}

void TransformerBuilder::ffn(uint32_t layer) {
  const WeightNames& names = spec_.names;
  const uint32_t shared = weights_of(layer), width = spec_.ffn_width;
  const std::string prefix = of_layer("layer.{}.", shared), norm_name = of_layer(names.ffn_norm, shared);
  const View in = block_input(prefix + "ffn_norm", norm_name);
  View inner;
  Projection up =
      projection("up", of_layer(names.up, shared), width, spec_.width, Role::matrix, spec_.ffn_bias);
  if (spec_.ffn == Ffn::gated) {
    const View both = new_value(2 * width, Unit::token);
    Projection gate =
        projection("gate", of_layer(names.gate, shared), width, spec_.width, Role::matrix, spec_.ffn_bias);
    linears(prefix, in, {std::move(gate), std::move(up)}, both, Activation::none, std::nullopt);
    inner = columns(both, 0, width);
    add(GateNode{spec_.activation, inner, columns(both, width, width), inner});
  } else {
    inner = new_value(width, Unit::token);
    linears(prefix, in, {std::move(up)}, inner, spec_.activation, std::nullopt);
  }
  linears(
      prefix, inner,
      {projection("down", of_layer(names.down, shared), spec_.width, width, Role::matrix, spec_.ffn_bias)},
      x_, Activation::none, x_);
  block_output(prefix + "ffn_norm", norm_name);
  if (layer + 1 < spec_.layers) probe(fmt::format("hidden.{}", layer + 1), x_);
}

Graph TransformerBuilder::build() {
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
  tensors_.finish(spec_.names.ignored, spec_.names.ignored_starts);
  return std::move(graph_);
}

Graph build_transformer(const TransformerSpec& spec, const TypePolicy& policy, TensorSet& tensors) {
  return TransformerBuilder(spec, policy, tensors).build();
}

}  // namespace mote::convert
