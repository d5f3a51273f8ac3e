// SPDX-License-Identifier: Apache-2.0
//
// Swin (Liu et al. 2021): stages of patches that are joined by fours between them; attention within windows,
// every other time shifted by half a window around the picture's edges.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "converter/architectures/shared/pictures.h"
#include "converter/layers/transformer_builder.h"
#include "host/base/error.h"

namespace mote::convert {
namespace {

constexpr uint32_t kJoined = 4;        // patches, two in each direction
constexpr float kOtherPart = -100.0f;  // of scores between parts that only the shift made neighbours
constexpr double kSwinEps = 1e-5;

/// The sizes and names that a stage's blocks share.
struct SwinStage {
  uint32_t width, heads, ffn_width;
  uint32_t rows, columns;  // of patches
  uint32_t window;
  uint32_t blocks;
  bool joins;  // its patches, by fours, at its end
  bool qkv_bias;
  Activation activation;
  std::string source, label;  // start the names

  uint32_t patches() const { return rows * columns; }
  uint32_t area() const { return window * window; }
  /// Returns the shift of every other block.
  uint32_t shift() const { return std::min(rows, columns) <= window ? 0 : window / 2; }
};

/// A patch of a window, by its row and column in the shifted picture.
struct SwinPlace {
  uint32_t y, x;
};
SwinPlace swin_place(const SwinStage& stage, uint32_t index) {
  const uint32_t across = stage.columns / stage.window, window = index / stage.area(),
                 inside = index % stage.area();
  return {window / across * stage.window + inside / stage.window,
          window % across * stage.window + inside % stage.window};
}

/// The patches window by window, by their numbers.
std::vector<uint32_t> window_order(const SwinStage& stage, uint32_t shift) {
  charge_table({stage.rows, stage.columns});
  std::vector<uint32_t> order;
  for (uint32_t i = 0; i < stage.patches(); ++i) {
    const SwinPlace place = swin_place(stage, i);
    order.push_back((place.y + shift) % stage.rows * stage.columns + (place.x + shift) % stage.columns);
  }
  return order;
}

/// Returns the part of a side that a place is in: before the last window, in the part of the last window that
/// the shift left in place, or in the part that the shift brought there.
uint32_t swin_part(uint32_t place, uint32_t side, uint32_t window, uint32_t shift) {
  return (place >= side - window ? 1 : 0) + (place >= side - shift ? 1 : 0);
}

/// [heads * patches, area]: of two patches of a window by their distances, and between parts.
std::vector<float> window_bias(const SwinStage& stage, const std::vector<float>& table, uint32_t shift) {
  charge_table({stage.heads, stage.rows, stage.columns, stage.window, stage.window});
  const uint32_t reach = 2 * stage.window - 1;
  std::vector<float> bias;
  bias.reserve(size_t{stage.heads} * stage.patches() * stage.area());
  for (uint32_t head = 0; head < stage.heads; ++head) {
    for (uint32_t query = 0; query < stage.patches(); ++query) {
      const SwinPlace from = swin_place(stage, query);
      const uint32_t first = query / stage.area() * stage.area();
      for (uint32_t key = first; key < first + stage.area(); ++key) {
        const SwinPlace to = swin_place(stage, key);
        const uint32_t y = from.y + stage.window - 1 - to.y, x = from.x + stage.window - 1 - to.x;
        const auto parts = [&](const SwinPlace& place) {
          return 3 * swin_part(place.y, stage.rows, stage.window, shift) +
                 swin_part(place.x, stage.columns, stage.window, shift);
        };
        const float apart = shift != 0 && parts(from) != parts(to) ? kOtherPart : 0.0f;
        bias.push_back(table[size_t{y * reach + x} * stage.heads + head] + apart);
      }
    }
  }
  return bias;
}

int32_t add_numbers(TransformerBuilder& builder, const std::string& name, uint32_t taps,
                    const std::vector<uint32_t>& numbers) {
  const auto count = static_cast<uint32_t>(numbers.size()) / taps;
  return builder.add_weight({name, DType::f32, true, count, taps, {}, {numbers.begin(), numbers.end()}});
}

/// The rows of `in` in another order, which is `label`'s.
View reorder(TransformerBuilder& builder, const std::string& label, const std::vector<uint32_t>& order,
             View in) {
  if (std::is_sorted(order.begin(), order.end())) return in;
  const View out = builder.new_value(in.width, Unit::token);
  builder.add(GatherRowsNode{1, add_numbers(builder, label, 1, order), in, out});
  return out;
}

void window_attention(TransformerBuilder& builder, const SwinStage& stage, const std::string& label,
                      const std::string& source, uint32_t shift) {
  const uint32_t width = stage.width;
  const std::string own = source + "attention.self.",
                    order_label = fmt::format("{}windows.{}", stage.label, shift);
  const std::vector<uint32_t> order = window_order(stage, shift);
  std::vector<uint32_t> back(order.size());
  for (uint32_t i = 0; i < order.size(); ++i) back[order[i]] = i;

  const View normed = builder.new_value(width, Unit::token), qkv = builder.new_value(3 * width, Unit::token);
  builder.norm(label + "attention_norm", source + "layernorm_before", builder.x(), normed);
  BlockInput in{reorder(builder, order_label, order, normed)};
  std::vector<Projection> projections;
  for (const char* name : {"query", "key", "value"})
    projections.push_back(builder.projection(name, own + name, width, width, Role::matrix, stage.qkv_bias));
  builder.linears(label, in, std::move(projections), qkv, Activation::none, std::nullopt);

  AttentionSpec attention;
  attention.heads = attention.kv_heads = stage.heads;
  attention.head_dim = width / stage.heads;
  const uint32_t reach = 2 * stage.window - 1;
  const std::vector<float> table =
      builder.tensors().table(own + "relative_position_bias_table", reach * reach, stage.heads);
  const uint32_t cache = builder.cache_of(attention);
  builder.add(KvStoreNode{cache, columns(qkv, width, width), columns(qkv, 2 * width, width)});
  AttentionNode node{cache, stage.heads, 1.0f / std::sqrt(static_cast<float>(attention.head_dim)),
                     columns(qkv, 0, width), builder.new_value(width, Unit::token)};
  node.group = stage.area();
  node.bias = builder.add_weight({label + "attention_bias",
                                  DType::f32,
                                  true,
                                  stage.heads * stage.patches(),
                                  stage.area(),
                                  {},
                                  window_bias(stage, table, shift)});
  const View out = node.out;
  builder.add(std::move(node));
  BlockInput attended{reorder(builder, order_label + ".back", back, out)};
  builder.linears(
      label, attended,
      {builder.projection("o", source + "attention.output.dense", width, width, Role::matrix, true)},
      builder.x(), Activation::none, builder.x());
}

void swin_ffn(TransformerBuilder& builder, const SwinStage& stage, const std::string& label,
              const std::string& source) {
  const View normed = builder.new_value(stage.width, Unit::token),
             inner = builder.new_value(stage.ffn_width, Unit::token);
  builder.norm(label + "ffn_norm", source + "layernorm_after", builder.x(), normed);
  builder.linear(label + "up", source + "intermediate.dense", Role::matrix, normed, inner, stage.activation,
                 true);
  BlockInput in{inner};
  builder.linears(
      label, in,
      {builder.projection("down", source + "output.dense", stage.width, stage.ffn_width, Role::matrix, true)},
      builder.x(), Activation::none, builder.x());
}

/// Four neighbours side by side, column by column, normed and projected to twice the width.
void join_patches(TransformerBuilder& builder, const SwinStage& stage) {
  std::vector<uint32_t> numbers;
  for (uint32_t i = 0; i < stage.patches() / kJoined; ++i) {
    const uint32_t y = i / (stage.columns / 2) * 2, x = i % (stage.columns / 2) * 2;
    for (uint32_t k = 0; k < kJoined; ++k) numbers.push_back((y + k % 2) * stage.columns + x + k / 2);
  }
  const View before = builder.x();
  builder.enter_groups(kJoined, 1);
  const View joined = builder.new_value(kJoined * stage.width, Unit::token),
             out = builder.new_value(2 * stage.width, Unit::token);
  builder.add(GatherRowsNode{kJoined, add_numbers(builder, stage.label + "joined", kJoined, numbers), before,
                             joined});
  builder.norm(stage.label + "joined_norm", stage.source + "downsample.norm", joined, joined);
  builder.linear(stage.label + "join", stage.source + "downsample.reduction", Role::matrix, joined, out,
                 Activation::none, false);
  builder.set_x(out);
}

void swin_stage(TransformerBuilder& builder, const SwinStage& stage, bool first) {
  if (first) {  // rows of tokens are gathered as groups
    const View tokens = builder.x();
    builder.enter_groups(1, 1);
    const View groups = builder.new_value(tokens.width, Unit::token);
    builder.add(FramesNode{1, 0, tokens, groups});
    builder.set_x(groups);
  }
  for (uint32_t block = 0; block < stage.blocks; ++block) {
    const std::string source = fmt::format("{}blocks.{}.", stage.source, block),
                      label = fmt::format("{}block.{}.", stage.label, block);
    window_attention(builder, stage, label, source, block % 2 == 0 ? 0 : stage.shift());
    swin_ffn(builder, stage, label, source);
  }
  if (stage.joins) join_patches(builder, stage);
}

/// A number for each stage.
std::vector<uint32_t> read_counts(Config& config, const std::string& key, std::vector<uint32_t> fallback) {
  const nlohmann::json* value = config.value(key);
  if (value == nullptr) return fallback;
  if (!value->is_array() || value->empty() || value->size() > kMaxLayers)
    config.refuse_value(key, value, "a list of numbers");
  std::vector<uint32_t> counts;
  for (const nlohmann::json& one : *value)
    counts.push_back(config.inner({{key, one}}, "").size(key, 1, kMaxLayers));
  return counts;
}

void check_stage(const Config& config, const SwinStage& stage) {
  if (stage.width % stage.heads != 0)
    config.refuse("embed_dim: a stage of width {} with {} heads", stage.width, stage.heads);
  if (stage.rows % stage.window != 0 || stage.columns % stage.window != 0) {
    config.refuse("window_size {}: a stage of {} x {} patches would be filled up, which is not supported",
                  stage.window, stage.columns, stage.rows);
  }
  if (stage.joins && (stage.rows % 2 != 0 || stage.columns % 2 != 0)) {
    config.refuse("image_size: a stage of {} x {} patches would be filled up, which is not supported",
                  stage.columns, stage.rows);
  }
}

void read_stages(Config& config, const std::string& base, TransformerSpec& spec) {
  const std::vector<uint32_t> depths = read_counts(config, "depths", {2, 2, 6, 2}),
                              heads = read_counts(config, "num_heads", {3, 6, 12, 24});
  if (depths.size() != heads.size() || depths.size() > 8)
    config.refuse("depths has {} stages, num_heads {}", depths.size(), heads.size());
  const PictureFormat& format = spec.picture.format;
  const double ratio = config.number("mlp_ratio", 4.0);
  if (!(ratio > 0 && ratio <= 64)) config.refuse("mlp_ratio is {}", ratio);
  SwinStage stage{};
  stage.width = config.size("embed_dim", 1, kMaxSize >> 8, 96);
  stage.rows = format.height / format.patch;
  stage.columns = format.width / format.patch;
  stage.window = config.size("window_size", 1, 256, 7);
  stage.qkv_bias = config.flag("qkv_bias", true);
  stage.activation = read_activation(config, "hidden_act", "gelu");
  spec.embedding_width = stage.width;
  for (uint32_t i = 0; i < depths.size(); ++i) {
    stage.heads = heads[i];
    stage.blocks = depths[i];
    stage.joins = i + 1 < depths.size();
    stage.ffn_width = static_cast<uint32_t>(ratio * static_cast<double>(stage.width));
    stage.source = fmt::format("{}encoder.layers.{}.", base, i);
    stage.label = fmt::format("stage.{}.", i);
    check_stage(config, stage);
    LayerSpec layer;
    layer.weights = i;
    layer.build = [stage, i](TransformerBuilder& builder, const LayerSpec&) {
      swin_stage(builder, stage, i == 0);
    };
    spec.layers.push_back(std::move(layer));
    spec.width = stage.width;
    if (!stage.joins) break;
    stage.width *= 2;
    stage.rows /= 2;
    stage.columns /= 2;
  }
}

}  // namespace

TransformerSpec read_swin(const Source& source, Config& config) {
  const std::string base = base_of(source, "swin.");
  TransformerSpec spec{};
  PictureSpec& picture = spec.picture;
  picture.format = read_picture_format(config, 224, 4, true);
  picture.projection = base + "embeddings.patch_embeddings.projection";
  read_stages(config, base, spec);
  set_layer_norms(config, kSwinEps, spec);
  if (spec.norm_eps != static_cast<float>(kSwinEps))
    config.refuse("layer_norm_eps is {}; {} is supported, as some of the norms have it always", spec.norm_eps,
                  kSwinEps);
  require_flag(config, "use_absolute_embeddings", false);
  spec.names.embedding_norm = base + "embeddings.norm";
  spec.names.final_norm = base + "layernorm";
  spec.names.ignored = {"embeddings.mask_token", "relative_position_index"};
  spec.head.pool = PoolKind::mean;
  const std::string task = task_of(config);
  if (task.empty()) {
    spec.head.kind = OutputKind::embedding;
    spec.head.probabilities = Probabilities::none;
    picture.probe = "pooler_output";
    spec.names.ignored_starts = {"classifier."};
  } else if (task == "ForImageClassification") {
    read_labels_head(source, config, "classifier", spec);
  } else {
    config.refuse("architectures {} is not supported; bare models and those for image classification are",
                  task);
  }
  know(config, {"hidden_size", "num_layers", "encoder_stride", "drop_path_rate", "hidden_dropout_prob",
                "attention_probs_dropout_prob", "out_features", "out_indices", "stage_names", "path_norm"});
  set_rows(spec);
  return spec;
}

}  // namespace mote::convert
