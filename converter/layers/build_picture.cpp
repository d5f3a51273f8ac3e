// SPDX-License-Identifier: Apache-2.0
//
// Models of pictures: what becomes of the caller's patches before the layers, and of their rows after them.
#include <fmt/format.h>

#include "converter/layers/transformer_builder.h"
#include "host/base/error.h"
#include "host/base/work_budget.h"

namespace mote::convert {
namespace {

constexpr uint32_t kBoxNumbers = 4;
constexpr float kSmallestNorm = 1e-12f;  // of vectors that get length 1

}  // namespace

uint32_t TransformerBuilder::stored_positions() const {
  const PictureSpec& picture = spec_.picture;
  const PictureFormat& format = picture.format;
  const uint32_t others = picture.positions_of_patches ? 0 : format.before + format.after;
  if (picture.table.rows != 0) return others + picture.table.rows * picture.table.columns;
  return others + spec_.context - format.before - format.after;
}

std::vector<float> TransformerBuilder::positions_of_picture(std::vector<float> stored, uint32_t width) const {
  const PictureSpec& picture = spec_.picture;
  const PictureFormat& format = picture.format;
  if (picture.table.rows == 0) return stored;
  const size_t first = picture.positions_of_patches ? 0 : size_t{format.before} * width;
  const size_t last = picture.positions_of_patches ? 0 : size_t{format.after} * width;
  const auto patches = std::span(stored).subspan(first, stored.size() - first - last);
  const PatchGrid grid{format.height / format.patch, format.width / format.patch};
  const std::vector<float> resized = resize_positions(patches, picture.table, grid, width);
  std::vector<float> rows(stored.begin(), stored.begin() + static_cast<std::ptrdiff_t>(first));
  rows.insert(rows.end(), resized.begin(), resized.end());
  rows.insert(rows.end(), stored.end() - static_cast<std::ptrdiff_t>(last), stored.end());
  return rows;
}

std::vector<float> TransformerBuilder::position_rows() {
  const PictureSpec& picture = spec_.picture;
  const uint32_t width = x_.width;
  std::vector<float> table = tensors_.table(picture.positions, 1, stored_positions() * width);
  if (picture.position_order.empty()) return positions_of_picture(std::move(table), width);
  std::vector<float> ordered;
  for (const uint32_t row : picture.position_order)
    ordered.insert(ordered.end(), table.begin() + row * width, table.begin() + (row + 1) * width);
  return ordered;
}

void TransformerBuilder::embed_picture() {
  const PictureSpec& picture = spec_.picture;
  const PictureFormat& format = picture.format;
  const uint32_t width = spec_.embedding_width != 0 ? spec_.embedding_width : spec_.width;
  const View row = new_value(format.row_width(), Unit::token);
  const View patch = columns(row, 0, format.pixels_of_row());
  add(InputNode{row});
  x_ = new_value(width, Unit::token);
  WeightPart part = patch_projection();
  const DType dtype = policy_.dtype(Role::positions, *part.tensor);
  const int32_t weight = add_matrix("patch_embedding", dtype, false, patch.width, {std::move(part)});
  // The rows of learned ones are 0 in the input, so the projection's bias is added with the positions.
  const std::vector<float> bias =
      picture.bias ? tensors_.vector(picture.projection + ".bias", width) : std::vector<float>(width, 0.0f);
  const int32_t own_bias = picture.bias_of_linear ? add_vector("patch_embedding.bias", bias) : -1;
  add(LinearNode{weight, own_bias, Activation::none, patch, x_, std::nullopt});
  if (!picture.bias_of_linear) add_picture_rows(bias);
  const uint32_t side = format.positions_side;
  if (side != 0) {
    WeightPart table = position_table(width, side * side);
    const DType type = policy_.dtype(Role::positions, *table.tensor);
    const View weights = columns(row, patch.width + format.rope_width, side * side);
    add(LinearNode{add_matrix("position_table", type, false, side * side, {std::move(table)}), -1,
                   Activation::none, weights, x_, x_});
  }
  if (!spec_.names.embedding_norm.empty()) norm("embedding_norm", spec_.names.embedding_norm, x_, x_);
  if (!picture.positions_behind_norm.empty()) add_positions_behind_norm();
  probe("hidden.0", x_);
  if (format.rope_width == 0) {
    add_tables();
  } else {
    rope_tables_.push_back(columns(row, patch.width, format.rope_width));
  }
  graph_.picture = format;
}

/// Returns the positions of patches as a matrix [width, patches] for a linear of their weights.
WeightPart TransformerBuilder::position_table(uint32_t width, uint32_t patches) {
  const PictureSpec& picture = spec_.picture;
  const uint32_t first = picture.positions_of_patches ? 0 : picture.format.before;
  if (first == 0) return tensors_.matrix(picture.positions, width, patches, true);
  const std::vector<float> rows = tensors_.table(picture.positions, 1, (first + patches) * width);
  std::vector<float> columns;
  columns.reserve(size_t{width} * patches);
  for (uint32_t i = 0; i < width; ++i) {
    for (uint32_t patch = 0; patch < patches; ++patch)
      columns.push_back(rows[size_t{first + patch} * width + i]);
  }
  return tensors_.computed("positions of patches", width, patches, columns);
}

WeightPart TransformerBuilder::patch_projection() {
  const PictureSpec& picture = spec_.picture;
  const PictureFormat& format = picture.format;
  const uint32_t width = x_.width;
  const std::string name = picture.projection + ".weight";
  if (format.channels_last) return tensors_.matrix(name, width, format.pixels_of_row(), false);
  if (format.frames == 1) return tensors_.kernels(name, width, {format.channels, format.patch, format.patch});
  return tensors_.kernels(name, width, {format.channels, format.frames, format.patch, format.patch});
}

/// The projection's bias, learned rows and positions.
void TransformerBuilder::add_picture_rows(const std::vector<float>& bias) {
  const PictureSpec& picture = spec_.picture;
  const PictureFormat& format = picture.format;
  const bool in_run = resizes_in_run();
  const uint32_t width = x_.width, patches = in_run ? picture.table.rows * picture.table.columns
                                                    : spec_.context - format.before - format.after;
  charge_table({patches, width});
  std::vector<float> rows;
  const auto append = [&](const std::vector<float>& more) {
    rows.insert(rows.end(), more.begin(), more.end());
  };
  for (const LearnedRows& learned : picture.before)
    append(tensors_.table(learned.name, 1, learned.rows * width));
  for (uint32_t i = 0; i < patches; ++i) append(bias);
  for (const LearnedRows& learned : picture.after)
    append(tensors_.table(learned.name, 1, learned.rows * width));
  if (format.positions_side != 0 && format.before != 0 && !picture.positions_of_patches) {
    const uint32_t stored = format.before + format.positions_side * format.positions_side;
    const std::vector<float> positions = tensors_.table(picture.positions, 1, stored * width);
    for (size_t i = 0; i < size_t{format.before} * width; ++i) rows[i] += positions[i];
  } else if (!picture.positions.empty() && format.positions_side == 0) {
    const uint32_t first = picture.positions_of_patches ? format.before : 0;
    const std::vector<float> positions =
        in_run ? tensors_.table(picture.positions, 1, stored_positions() * width) : position_rows();
    for (size_t i = 0; i < positions.size(); ++i) rows[size_t{first} * width + i] += positions[i];
  }
  if (in_run) return add_grid_positions("positions", std::move(rows));
  const uint32_t count = static_cast<uint32_t>(rows.size() / width);
  add(PositionsNode{add_weight({"positions", DType::f32, true, count, width, {}, std::move(rows)}), x_});
}

void TransformerBuilder::add_positions_behind_norm() {
  const uint32_t width = x_.width, patches = spec_.picture.format.patches();
  const std::string name = "positions_behind_norm";
  std::vector<float> rows = tensors_.table(spec_.picture.positions_behind_norm, 1, patches * width);
  if (resizes_in_run()) return add_grid_positions(name, std::move(rows));
  add(PositionsNode{add_weight({name, DType::f32, true, patches, width, {}, std::move(rows)}), x_});
}

void TransformerBuilder::add_grid_positions(const std::string& name, std::vector<float> rows) {
  const PictureSpec& picture = spec_.picture;
  const auto count = static_cast<uint32_t>(rows.size() / x_.width);
  add(GridPositionsNode{picture.table.rows, picture.table.columns, picture.format.before,
                        picture.format.after,
                        add_weight({name, DType::f32, true, count, x_.width, {}, std::move(rows)}), x_});
}

/// The query is the same for every picture, and attention has one for each row: a norm of weight 0 whose bias
/// is the query gives it to all rows, of which the first is taken.
View TransformerBuilder::attention_pool(const std::string& source) {
  const AttentionSpec& attention = spec_.layers.front().attention;
  const FfnSpec& ffn = spec_.layers.front().ffn;
  const uint32_t width = spec_.width;
  const std::vector<float> learned = tensors_.table(source + "probe", 1, width);
  const std::string in_proj = source + "attention.in_proj_";
  WeightPart whole = tensors_.matrix(in_proj + "weight", 3 * width, width, false);
  const std::vector<float> bias = tensors_.vector(in_proj + "bias", 3 * width);
  std::vector<float> query(width), row(width);
  for (uint32_t i = 0; i < width; ++i) {
    read_row(*whole.tensor, i, row);
    double sum = bias[i];
    for (uint32_t j = 0; j < width; ++j) sum += double{row[j]} * double{learned[j]};
    query[i] = static_cast<float>(sum);
  }
  const View q = new_value(width, Unit::token), kv = new_value(2 * width, Unit::token);
  const int32_t zero = add_vector("pool.zero", std::vector<float>(width, 0.0f));
  add(NormNode{NormKind::layer, 1.0f, 1, zero, add_vector("pool.query", std::move(query)), x_, q});
  whole.first_row = width;
  whole.rows = 2 * width;
  const DType dtype = policy_.dtype(Role::matrix, *whole.tensor);
  BlockInput input{x_};
  linears("pool.", input,
          {{"k+v", {std::move(whole)}, dtype, std::vector<float>(bias.begin() + width, bias.end())}}, kv,
          Activation::none, std::nullopt);
  const uint32_t cache = cache_of(attention);
  const View k = columns(kv, 0, width), v = columns(kv, width, width);
  const View heads = new_value(width, Unit::token), first = new_value(width, Unit::sequence);
  add(KvStoreNode{cache, k, v});
  add(AttentionNode{cache, attention.heads, attention.scale, q, heads});
  add(PoolNode{PoolKind::first, heads, first});
  const View pooled = new_value(width, Unit::sequence), normed = new_value(width, Unit::sequence);
  linear("pool.o", source + "attention.out_proj", Role::matrix, first, pooled, Activation::none, true);
  norm("pool.norm", source + "layernorm", pooled, normed);
  const View inner = new_value(ffn.width, Unit::sequence);
  linear("pool.up", source + "mlp.fc1", Role::matrix, normed, inner, ffn.activation, true);
  BlockInput last{inner};
  linears("pool.", last, {projection("down", source + "mlp.fc2", width, ffn.width, Role::matrix, true)},
          pooled, Activation::none, pooled);
  return pooled;
}

void TransformerBuilder::predict(const std::string& label, const std::string& source, View in, View out,
                                 Activation last) {
  for (uint32_t i = 0; i < 2; ++i) {
    const View inner = new_value(spec_.width, Unit::selected);
    linear(fmt::format("{}.{}", label, i), fmt::format("{}{}", source, i), Role::matrix, in, inner,
           Activation::relu, true);
    in = inner;
  }
  linear(label + ".2", source + "2", Role::head, in, out, last, true);
}

void TransformerBuilder::picture_head() {
  const HeadSpec& head = spec_.head;
  const PictureSpec& picture = spec_.picture;
  probe(fmt::format("hidden.{}", spec_.layers.size()), x_);
  if (!spec_.names.final_norm.empty()) norm("final_norm", spec_.names.final_norm, x_, x_);
  probe("last_hidden_state", x_);
  graph_.output_kind = head.kind;
  graph_.probabilities = head.probabilities;
  graph_.labels = head.labels;
  if (head.kind == OutputKind::hidden || head.kind == OutputKind::depth) {
    if (picture.finish) picture.finish(*this);
    graph_.output = new_value(x_.width, Unit::selected);
    return add(SelectNode{x_, graph_.output});
  }
  if (head.kind == OutputKind::boxes) {
    const View rows = new_value(spec_.width, Unit::selected);
    add(SelectNode{x_, rows});
    graph_.output = new_value(head.width + kBoxNumbers, Unit::selected);
    predict("labels", head.output, rows, columns(graph_.output, 0, head.width), Activation::none);
    return predict("boxes", picture.boxes, rows, columns(graph_.output, head.width, kBoxNumbers),
                   Activation::sigmoid);
  }
  View features{};
  std::optional<View> second;
  if (!picture.attention_pool.empty()) {
    features = attention_pool(picture.attention_pool);
  } else {
    features = new_value(spec_.width * static_cast<uint32_t>(1 + head.more_pools.size()), Unit::sequence);
    add(PoolNode{head.pool, x_, columns(features, 0, spec_.width), picture.pool_skip});
    for (uint32_t i = 0; i < head.more_pools.size(); ++i)
      add(PoolNode{head.more_pools[i], x_, columns(features, (i + 1) * spec_.width, spec_.width),
                   picture.format.before});
  }
  if (!picture.second.name.empty()) {
    second = new_value(spec_.width, Unit::sequence);
    add(PoolNode{PoolKind::first, x_, *second, 1});
  }
  if (!picture.pooled_norm.empty()) norm("pooled_norm", picture.pooled_norm, features, features);
  features = dense("head.dense", head.dense, features);
  if (head.kind == OutputKind::embedding && picture.probe != "pooler_output")
    probe("pooler_output", features);
  graph_.output = features;
  if (!head.output.empty()) {
    graph_.output = new_value(head.width, Unit::sequence);
    linear("head", head.output, Role::head, features, graph_.output, Activation::none,
           head.kind == OutputKind::sequence_labels);
  }
  if (second) {
    probe("cls_logits", graph_.output);
    const View labels = new_value(head.width, Unit::sequence), mean = new_value(head.width, Unit::sequence);
    linear("second_head", picture.second.name, Role::head, *second, labels, Activation::none, true);
    probe("distillation_logits", labels);
    add(ScaleRowsNode{labels, mean, -1, 1.0f, graph_.output});
    scale(mean, 0.5f);
    graph_.output = mean;
  }
  if (head.normalize) add(NormNode{NormKind::l2, kSmallestNorm, 1, -1, -1, graph_.output, graph_.output});
  if (!picture.probe.empty()) probe(picture.probe, graph_.output);
}

}  // namespace mote::convert
