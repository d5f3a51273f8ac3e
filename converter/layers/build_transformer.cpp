// SPDX-License-Identifier: Apache-2.0
#include "converter/layers/build_transformer.h"

#include <algorithm>
#include <cmath>

#include "converter/architectures/shared/architecture.h"
#include "converter/layers/transformer_builder.h"
#include "host/base/error.h"

namespace mote::convert {
namespace {

constexpr const char kEmbedding[] = "embedding";
constexpr float kDroppedInTraining = 0.15f * 0.8f;  // of the tokens, where there is a dropped_id

/// Says whether the two weights hold the same numbers.
bool is_same(const Weight& a, const Weight& b) {
  const auto is_same_part = [](const WeightPart& one, const WeightPart& other) {
    return one.tensor == other.tensor && one.first_row == other.first_row && one.rows == other.rows &&
           one.row_step == other.row_step;
  };
  return a.dtype == b.dtype && a.rows == b.rows && a.cols == b.cols && a.values == b.values &&
         std::equal(a.parts.begin(), a.parts.end(), b.parts.begin(), b.parts.end(), is_same_part);
}

/// "name", "name.1", "name.2" and so on.
std::string numbered(const std::string& name, size_t index) {
  return index == 0 ? name : fmt::format("{}.{}", name, index);
}

}  // namespace

// ---- Weights ----

int32_t TransformerBuilder::add_weight(Weight weight) {
  if (!spec_.shares_embedding || weight.name != kEmbedding) weight.name = spec_.label + weight.name;
  const auto same = std::find_if(graph_.weights.begin(), graph_.weights.end(),
                                 [&](const Weight& other) { return other.name == weight.name; });
  if (same != graph_.weights.end()) {
    if (!is_same(*same, weight)) fail("the architecture gives two weights the name {}", weight.name);
    return static_cast<int32_t>(same - graph_.weights.begin());
  }
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
  const bool rounds = spec_.rounds_activations && role == Role::matrix;
  const DType dtype = rounds ? DType::q8c : policy_.dtype(role, *part.tensor);
  std::optional<std::vector<float>> bias;
  if (bias_required || (spec_.optional_biases && tensors_.has(source + ".bias")))
    bias = tensors_.vector(source + ".bias", rows);
  return {label, {std::move(part)}, dtype, std::move(bias)};
}

uint32_t Projection::rows() const {
  uint32_t sum = 0;
  for (const WeightPart& part : parts) sum += part.rows;
  return sum;
}

// ---- Operations ----

View TransformerBuilder::new_value(uint32_t width, DType dtype, Unit unit) {
  graph_.values.push_back({width, dtype, unit == Unit::token ? rows_ : unit});
  return {static_cast<uint32_t>(graph_.values.size() - 1), 0, width};
}

void TransformerBuilder::probe(const std::string& name, View view) {
  graph_.probes.push_back({name, static_cast<uint32_t>(graph_.nodes.size() - 1), view});
}

void TransformerBuilder::norm(NormKind kind, const std::string& label, const std::string& source,
                              uint32_t groups, View in, View out) {
  const uint32_t width = in.width / groups;
  if (source == kUnweighted) return add(NormNode{kind, spec_.norm_eps, groups, -1, -1, in, out});
  std::vector<float> values = tensors_.vector(source + spec_.norm_weight, width);
  for (float& value : values) value = (value + (spec_.norm_plus_one ? 1.0f : 0.0f)) * spec_.norm_multiplier;
  const int32_t weight = add_vector(label, std::move(values));
  const bool has_bias = (kind == NormKind::layer || kind == NormKind::affine) && spec_.norm_bias;
  const int32_t bias = has_bias ? add_vector(label + ".bias", tensors_.vector(source + ".bias", width)) : -1;
  add(NormNode{kind, spec_.norm_eps, groups, weight, bias, in, out, spec_.norm_eps_outside_root});
}

View TransformerBuilder::input_for(BlockInput& input, DType weight) {
  if (!takes_quantized(weight)) return input.f32;
  const DType dtype = activation_dtype(weight);
  std::optional<View>& quantized = input.quantized[static_cast<size_t>(dtype)];
  if (!quantized) {
    quantized = new_value(input.f32.width, dtype, graph_.values[input.f32.value].unit);
    add(QuantizeNode{input.f32, *quantized});
  }
  return *quantized;
}

void TransformerBuilder::fused_linear(const std::string& prefix, BlockInput& in, std::span<Projection> fused,
                                      View out, Activation activation, std::optional<View> residual) {
  std::string label = prefix;
  std::vector<WeightPart> parts;
  std::vector<float> bias;
  bool has_bias = false;
  for (const Projection& projection : fused) {
    label += (parts.empty() ? "" : "+") + projection.label;
    parts.insert(parts.end(), projection.parts.begin(), projection.parts.end());
    has_bias = has_bias || projection.bias.has_value();
    const std::vector<float> zeros(projection.rows(), 0.0f);
    const std::vector<float>& values = projection.bias ? *projection.bias : zeros;
    bias.insert(bias.end(), values.begin(), values.end());
  }
  const View input = input_for(rounded_for(in, parts), fused[0].dtype);
  const int32_t weight = add_matrix(label, fused[0].dtype, false, in.f32.width, std::move(parts));
  const int32_t bias_index = has_bias ? add_vector(label + ".bias", std::move(bias)) : -1;
  add(LinearNode{weight, bias_index, activation, input, out, residual});
}

void TransformerBuilder::linears(const std::string& prefix, BlockInput& in,
                                 std::vector<Projection> projections, View out, Activation activation,
                                 std::optional<View> residual) {
  uint32_t column = 0;
  for (size_t first = 0; first < projections.size();) {
    size_t end = first;
    uint32_t width = 0;
    const std::optional<InputRounding> rounding = rounding_of(projections[first].parts);
    const auto fits = [&](const Projection& other) {
      return other.dtype == projections[first].dtype && rounding_of(other.parts) == rounding;
    };
    for (; end < projections.size() && fits(projections[end]); ++end) {
      width += projections[end].rows();
    }
    fused_linear(prefix, in, std::span(projections).subspan(first, end - first), columns(out, column, width),
                 activation, residual);
    column += width;
    first = end;
  }
}

void TransformerBuilder::linear(const std::string& label, const std::string& source, Role role, View in,
                                View out, Activation activation, bool bias_required) {
  BlockInput input{in};
  linears("", input, {projection(label, source, out.width, in.width, role, bias_required)}, out, activation,
          std::nullopt);
}

void TransformerBuilder::scale(View rows, float factor) {
  if (factor != 1.0f) add(ScaleRowsNode{rows, rows, -1, factor});
}

// ---- Embedding and positions ----

void TransformerBuilder::add_rows(const std::string& label, const std::string& source, uint32_t source_rows,
                                  uint32_t first, uint32_t rows, RowIndex index, uint32_t times) {
  WeightPart part = tensors_.matrix(source + ".weight", source_rows, x_.width, false);
  part.first_row = first;
  part.rows = rows;
  const DType dtype = policy_.dtype(Role::positions, *part.tensor);
  std::vector<WeightPart> parts(times, part);
  add(PositionsNode{add_matrix(label, dtype, true, x_.width, std::move(parts)), x_, index});
}

View TransformerBuilder::input(uint32_t width) {
  const View in = new_value(width, Unit::token);
  add(InputNode{in});
  return in;
}

void TransformerBuilder::enter_groups(uint32_t ratio, uint32_t needs) {
  rows_ = graph_.add_groups(rows_, ratio, needs);
  row_tokens_ *= ratio;
}

View TransformerBuilder::split_rows(View wide, uint32_t parts) {
  rows_ = graph_.add_parts(rows_, parts);
  const View out = new_value(wide.width / parts, Unit::token);
  add(SplitRowsNode{wide, out});
  return out;
}

void TransformerBuilder::enter_fixed(uint32_t rows) {
  rows_ = graph_.add_groups(Unit::token, 1, 1, rows);
  row_tokens_ = 0;
}

void TransformerBuilder::enter_tokens() {
  rows_ = Unit::token;
  row_tokens_ = 1;
}

void TransformerBuilder::embed() {
  if (spec_.stem) {
    x_ = spec_.stem(*this);
  } else {
    embed_ids();
    if (spec_.vision_input) embed_vision_input();
  }
  const View embedded = x_;
  if (spec_.expand) x_ = spec_.expand(*this, x_);
  probe("hidden.0", x_);
  if (spec_.per_layer.width != 0) embed_per_layer(embedded);
  add_tables();
}

void TransformerBuilder::embed_ids() {
  const WeightNames& names = spec_.names;
  x_ = new_value(spec_.embedding_width != 0 ? spec_.embedding_width : spec_.width, Unit::token);
  WeightPart part = tensors_.matrix(names.embedding + ".weight", spec_.vocab, x_.width, false);
  const Role role = spec_.tied_embedding ? Role::head : Role::embedding;
  const DType dtype = policy_.dtype(role, *part.tensor);
  // A table that is only looked up stays in rows where rows can hold its type.
  const bool row_major = !spec_.tied_embedding && row_bytes(dtype, x_.width) != 0;
  table_ = add_matrix(kEmbedding, dtype, row_major, x_.width, {std::move(part)});
  add(EmbedNode{table_, x_});
  scale(x_, spec_.embedding_multiplier);
  if (spec_.dropped_id != -1) add(TokenDropoutNode{x_, spec_.dropped_id, 1.0f - kDroppedInTraining});
  if (!spec_.positions_after_projection) add_to_embedding();
  if (!names.embedding_projection.empty()) project_embedding();
  if (spec_.positions_after_projection) add_to_embedding();
}

/// Types of tokens, positions and a norm.
void TransformerBuilder::add_to_embedding() {
  const WeightNames& names = spec_.names;
  if (spec_.token_types != 0) {
    const uint32_t times = spec_.globals ? 2 : 1;
    if (!names.token_types.empty())
      add_rows("token_types", names.token_types, spec_.token_types, 0, spec_.token_types,
               RowIndex::token_type, times);
    graph_.token_types = times * spec_.token_types;
    graph_.globals = spec_.globals;
  }
  add_positions();
  if (!names.embedding_norm.empty()) norm("embedding_norm", names.embedding_norm, x_, x_);
}

void TransformerBuilder::project_embedding() {
  const char label[] = "embedding_projection";
  const std::string& source = spec_.names.embedding_projection;
  const View projected = new_value(spec_.width, Unit::token);
  if (spec_.trigrams) {
    const View frames = new_value(3 * x_.width, Unit::token);
    add(FramesNode{3, 1, x_, frames});
    // The source has the token behind first, frames the one before.
    std::vector<float> weight = tensors_.table(source + ".weight", spec_.width, frames.width);
    for (size_t row = 0; row < spec_.width; ++row) {
      float* first = &weight[row * frames.width];
      std::swap_ranges(first, first + x_.width, first + 2 * x_.width);
    }
    WeightPart part = tensors_.computed(source, spec_.width, frames.width, weight);
    const DType dtype = policy_.dtype(Role::matrix, *part.tensor);
    BlockInput input{frames};
    linears("", input, {{label, {std::move(part)}, dtype, tensors_.vector(source + ".bias", spec_.width)}},
            projected, Activation::none, std::nullopt);
  } else {
    linear(label, source, Role::matrix, x_, projected, Activation::none, spec_.embedding_projection_bias);
  }
  x_ = projected;
}

void TransformerBuilder::embed_per_layer(View embedded) {
  const PerLayerSpec& spec = spec_.per_layer;
  const uint32_t layers = static_cast<uint32_t>(spec_.layers.size()), width = layers * spec.width;
  per_layer_ = new_value(width, Unit::token);
  linear("per_layer_projection", spec.projection, Role::matrix, embedded, per_layer_, Activation::none,
         false);
  scale(per_layer_, 1.0f / std::sqrt(static_cast<float>(spec_.width)));
  norm(NormKind::rms, "per_layer_norm", spec.norm, layers, per_layer_, per_layer_);
  if (spec.rows == 0) return;
  std::vector<WeightPart> parts = {tensors_.matrix(spec.table + ".weight", spec.rows, width, false)};
  parts[0].rows = std::min(spec.rows, spec_.vocab);
  WeightPart first = parts[0];
  first.rows = 1;
  parts.resize(parts.size() + spec_.vocab - parts[0].rows, first);
  const DType dtype = policy_.dtype(Role::embedding, *first.tensor);
  const bool row_major = row_bytes(dtype, width) != 0;
  const View looked_up = new_value(width, Unit::token);
  add(EmbedNode{add_matrix("per_layer_embedding", dtype, row_major, width, std::move(parts)), looked_up});
  scale(looked_up, std::sqrt(static_cast<float>(spec.width)));
  add(ScaleRowsNode{looked_up, per_layer_, -1, 1.0f, per_layer_});
  scale(per_layer_, std::sqrt(0.5f));
}

void TransformerBuilder::add_positions() {
  if (!spec_.position_table.empty()) {
    const int32_t table =
        add_weight({"positions", DType::f32, true, spec_.context, x_.width, {}, spec_.position_table});
    add(PositionsNode{table, x_});
  }
  if (!spec_.sines.empty()) add(SinesNode{add_vector("sine_frequencies", spec_.sines), false, x_});
  if (spec_.names.positions.empty()) return;
  const uint32_t rows = spec_.position_rows != 0 ? spec_.position_rows : spec_.context;
  add_rows("positions", spec_.names.positions, rows, spec_.first_position, spec_.context, RowIndex::position);
}

void TransformerBuilder::add_tables() {
  for (const RopeSpec& rope : spec_.ropes) {
    const std::string name = numbered("rope_frequencies", rope_tables_.size());
    const int32_t frequencies = add_vector(name, rope.frequencies);
    const auto count = static_cast<uint32_t>(rope.frequencies.size());
    const std::optional<View> shifts = rope_shifts(count);
    rope_tables_.push_back(new_value(2 * count, Unit::token));
    add(RopeTableNode{frequencies, rope.scale, rope_tables_.back(), rope.growth, rope.growth_every, shifts});
  }
  for (const std::vector<float>& bias : spec_.attention_biases) {
    const std::string name = numbered("attention_bias", attention_biases_.size());
    const uint32_t cols = spec_.biases_by_position ? spec_.context : 2 * spec_.most_layer_rows() - 1;
    const uint32_t rows = static_cast<uint32_t>(bias.size() / cols);
    attention_biases_.push_back(add_weight({name, DType::f32, true, rows, cols, {}, bias}));
  }
}

void TransformerBuilder::embed_and_layers() {
  check_spec(spec_);
  if (spec_.picture.format.height != 0) {
    embed_picture();
  } else {
    embed();
  }
  layer_caches_.resize(spec_.layers.size());
  for (size_t i = 0; i < spec_.layers.size(); ++i) {
    const LayerSpec& spec = spec_.layers[i];
    layer_index_ = static_cast<uint32_t>(i);
    if (spec.build) {
      spec.build(*this, spec);
    } else {
      layer(spec);
    }
    if (i + 1 < spec_.layers.size() || spec_.last_hidden_unnormed) probe(fmt::format("hidden.{}", i + 1), x_);
    add_deep_rows(i);
  }
}

void TransformerBuilder::add_program(const ProgramSpec& program) {
  ProgramGraph& current = graph_;
  ProgramGraph first = std::exchange(current, {});
  enter_tokens();
  const View rows = program.build(*this);
  current.output = new_value(rows.width, Unit::selected);
  add(SelectNode{rows, current.output});
  current.output_kind = OutputKind::hidden;
  current.name = program.name;
  current.context = program.context;
  graph_.more_programs.push_back(std::exchange(current, std::move(first)));
}

Graph TransformerBuilder::build() {
  graph_.vocab = spec_.vocab;
  graph_.width = spec_.width;
  graph_.context = spec_.context;
  graph_.bos_id = spec_.bos_id;
  graph_.memory = spec_.memory;
  if (!spec_.source) graph_.sound = spec_.sound;
  graph_.speech = spec_.speech;
  embed_and_layers();
  head();
  for (const ProgramSpec& program : spec_.programs) add_program(program);
  graph_.voice = spec_.voice;
  tensors_.finish(spec_.names.ignored, spec_.names.ignored_starts);
  return std::move(graph_);
}

Graph build_transformer(const TransformerSpec& spec, const TypePolicy& policy, TensorSet& tensors) {
  const WorkBudget budget = budget_of_sizes(tensors.source());
  TransformerBuilder builder(spec, policy, tensors);
  if (spec.source) {
    TransformerSpec encoder = *spec.source;
    encoder.label = "encoder.";
    encoder.shares_embedding = encoder.names.embedding == spec.names.embedding;
    encoder.tied_embedding = encoder.shares_embedding && spec.tied_embedding;
    builder.use_source(TransformerBuilder(encoder, policy, tensors).build_source(spec));
  }
  return builder.build();
}

}  // namespace mote::convert
