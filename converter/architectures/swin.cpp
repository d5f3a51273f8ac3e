// SPDX-License-Identifier: Apache-2.0
//
// Swin (Liu et al. 2021): stages of patches that are joined by fours between them; attention within windows,
// every other time shifted by half a window around the picture's edges.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "converter/architectures/shared/pictures.h"
#include "converter/architectures/shared/swin_stages.h"
#include "converter/architectures/shared/swin_windows.h"
#include "converter/layers/transformer_builder.h"
#include "host/base/error.h"

namespace mote::convert {
namespace {

constexpr double kSwinEps = 1e-5;
constexpr uint32_t kMostEvery = 1u << 12;  // patches of a place, in the runtime

void window_attention(TransformerBuilder& builder, const SwinStage& stage, const std::string& label,
                      const std::string& source, uint32_t shift) {
  const uint32_t width = stage.width;
  const std::string own = source + "attention.self.";
  const Unit unit = stage.any_size() ? builder.add_places(stage.filled_up(), stage.least) : Unit::token;
  const View normed = builder.new_value(width, Unit::token), qkv = builder.new_value(3 * width, unit);
  builder.norm(label + "attention_norm", source + "layernorm_before", builder.x(), normed);
  BlockInput in{rows_of_windows(builder, stage, shift, normed)};
  std::vector<Projection> projections;
  for (const char* name : {"query", "key", "value"})
    projections.push_back(builder.projection(name, own + name, width, width, Role::matrix, stage.qkv_bias));
  builder.linears(label, in, std::move(projections), qkv, Activation::none, std::nullopt);
  const View out = attend_in_windows(builder, stage, label, own + "relative_position_bias_table", shift, qkv);
  BlockInput attended{rows_of_patches(builder, stage, shift, out)};
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

/// Four neighbours side by side, normed and projected to twice the width.
void join_patches(TransformerBuilder& builder, const SwinStage& stage) {
  const View joined = join_fours(builder, stage, builder.x());
  const View out = builder.new_value(2 * stage.width, Unit::token);
  builder.norm(stage.label + "joined_norm", stage.source + "downsample.norm", joined, joined);
  builder.linear(stage.label + "join", stage.source + "downsample.reduction", Role::matrix, joined, out,
                 Activation::none, false);
  builder.set_x(out);
}

/// Makes rows of tokens rows of places, or groups: they are gathered as such.
void enter_stages(TransformerBuilder& builder, const SwinStage& stage) {
  const View tokens = builder.x();
  if (stage.any_size()) {
    builder.enter_places(stage.places(), stage.least);
  } else {
    builder.enter_groups(1, 1);
  }
  const View rows = builder.new_value(tokens.width, Unit::token);
  if (stage.any_size()) {
    builder.add(GridGatherNode{{}, {}, 1, tokens, rows});
  } else {
    builder.add(FramesNode{1, 0, tokens, rows});
  }
  builder.set_x(rows);
}

void swin_stage(TransformerBuilder& builder, const SwinStage& stage, bool first) {
  if (first) enter_stages(builder, stage);
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

void check_stage(const Config& config, const SwinStages& stages, const SwinStage& stage) {
  if (stage.width % stage.heads != 0)
    config.refuse("{}: a stage of width {} with {} heads", stages.width_key, stage.width, stage.heads);
  if (stage.any_size()) return;
  if (stage.rows % stage.window != 0 || stage.columns % stage.window != 0) {
    config.refuse(
        "window_size {}: a stage of {} x {} patches would be filled up, which files of one size do not",
        stage.window, stage.columns, stage.rows);
  }
  if (stage.joins && (stage.rows % 2 != 0 || stage.columns % 2 != 0)) {
    config.refuse("{}: a stage of {} x {} patches would be filled up, which files of one size do not",
                  stages.size_key, stage.columns, stage.rows);
  }
}

/// Returns the patches that pictures of any size have on each side, so that no stage's side is shorter than a
/// window: the original cannot compute those.
uint32_t least_patches(const Config& config, const SwinStage& first, size_t stages) {
  const uint32_t every = 1u << (stages - 1), least = (first.window - 1) * every + 1;
  if (uint64_t{first.window} * every > kMostEvery)
    config.refuse("window_size {} with {} stages is not supported for pictures of any size", first.window,
                  stages);
  if (std::min(first.rows, first.columns) < least)
    config.refuse(
        "image_size: {} x {} patches, of which the last stage's are fewer than a window has on a side; the "
        "original refuses those too",
        first.columns, first.rows);
  return least;
}

}  // namespace

void set_swin_norms(Config& config, TransformerSpec& spec) {
  set_layer_norms(config, kSwinEps, spec);
  if (spec.norm_eps != static_cast<float>(kSwinEps))
    config.refuse("layer_norm_eps is {}; {} is supported, as some of the norms have it always", spec.norm_eps,
                  kSwinEps);
}

void add_swin_stages(Config& config, const SwinStages& stages, TransformerSpec& spec) {
  const std::vector<uint32_t> depths = read_counts(config, "depths", {2, 2, 6, 2}),
                              heads = read_counts(config, stages.heads_key, stages.heads);
  if (depths.size() != heads.size() || depths.size() > 8)
    config.refuse("depths has {} stages, {} {}", depths.size(), stages.heads_key, heads.size());
  const double ratio = config.number("mlp_ratio", 4.0);
  if (!(ratio > 0 && ratio <= 64)) config.refuse("mlp_ratio is {}", ratio);
  SwinStage stage{};
  stage.width = config.size(stages.width_key, 1, kMaxSize >> 8, stages.width);
  stage.rows = stages.rows;
  stage.columns = stages.columns;
  stage.window = config.size("window_size", 1, 256, stages.window);
  stage.qkv_bias = config.flag("qkv_bias", true);
  stage.activation = read_activation(config, "hidden_act", "gelu");
  spec.embedding_width = stage.width;
  if (stages.any_size) stage.least = least_patches(config, stage, depths.size());
  if (!stages.positions.empty() && config.flag("use_absolute_embeddings", false)) {
    spec.picture.positions_behind_norm = stages.positions;
    if (stages.any_size && stage.rows != stage.columns)
      config.refuse(
          "use_absolute_embeddings: positions of {} x {} patches are not supported for pictures of any "
          "size; those of a square are",
          stage.columns, stage.rows);
  }
  for (uint32_t i = 0; i < depths.size(); ++i) {
    stage.heads = heads[i];
    stage.blocks = depths[i];
    stage.joins = i + 1 < depths.size();
    stage.ffn_width = static_cast<uint32_t>(ratio * static_cast<double>(stage.width));
    stage.source = fmt::format("{}{}.", stages.layers, i);
    stage.label = fmt::format("stage.{}.", i);
    check_stage(config, stages, stage);
    LayerSpec layer;
    layer.weights = i;
    const bool first = i == 0 && stages.follows_tokens;
    layer.build = [stage, first](TransformerBuilder& builder, const LayerSpec&) {
      swin_stage(builder, stage, first);
    };
    spec.layers.push_back(std::move(layer));
    spec.width = stage.width;
    if (!stage.joins) break;
    stage.width *= 2;
    stage.rows = (stage.rows + 1) / 2;
    stage.columns = (stage.columns + 1) / 2;
    stage.every *= 2;
  }
}

TransformerSpec read_swin(const Source& source, Config& config) {
  const std::string base = base_of(source, "swin.");
  TransformerSpec spec{};
  PictureSpec& picture = spec.picture;
  picture.format = read_picture_format(config, 224, 4, true);
  picture.projection = base + "embeddings.patch_embeddings.projection";
  const bool any_size = source.any_picture_size.height != 0;
  // Tables that add the bias with the positions are for one size.
  picture.bias_of_linear = any_size;
  picture.resizes_in_run = true;
  const PictureFormat& format = picture.format;
  add_swin_stages(config,
                  {base + "encoder.layers.",
                   format.height / format.patch,
                   format.width / format.patch,
                   true,
                   "image_size",
                   "embed_dim",
                   "num_heads",
                   96,
                   7,
                   {3, 6, 12, 24},
                   base + "embeddings.position_embeddings",
                   any_size},
                  spec);
  set_swin_norms(config, spec);
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
