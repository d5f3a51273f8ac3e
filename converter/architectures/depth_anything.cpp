// SPDX-License-Identifier: Apache-2.0
//
// Depth Anything (Yang et al. 2024): hidden states of a DINOv2 become maps of several sizes, which are joined
// from the coarsest on (Ranftl et al. 2021), and then the depth of each pixel.
#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "converter/architectures/shared/pictures.h"
#include "converter/architectures/shared/vision_language.h"
#include "converter/layers/transformer_builder.h"
#include "host/base/error.h"

namespace mote::convert {
namespace {

constexpr uint32_t kMostMaps = 8;
constexpr uint32_t kConvSide = 3;
constexpr const char* kNeck = "neck.";

/// Rows that are a picture's places.
struct Grid {
  Unit unit;
  uint32_t lines, columns;
  GridPlaces scale;  // of pictures of any size; lines and columns are those of the model's own

  uint32_t places() const { return lines * columns; }
};

/// Returns a grid whose sides have so many times the places.
Grid grown(const Grid& grid, Unit unit, uint32_t times) {
  return {unit, grid.lines * times, grid.columns * times, {grid.scale.times * times, grid.scale.every}};
}

/// A map that is made of a hidden state: so many times the patches in both directions, or, with `times` 0,
/// every `step`th patch.
struct DepthMap {
  uint32_t layer;  // the one that it is the output of, from 1
  uint32_t width, times, step;
};

/// The config of all but the backbone.
struct DepthSpec {
  std::vector<DepthMap> maps;
  uint32_t fused_width, head_width;
  Activation last;
  float most;  // of depths
};

/// A convolution, by the names of its weights in the source and in the file.
struct Conv {
  std::string source, label;
  uint32_t width, side = kConvSide, step = 1;
  Activation activation = Activation::none;
  bool bias = true;
  std::optional<View> residual = std::nullopt;
};

/// Builds what follows the backbone's layers, as they come.
class DepthNeck {
 public:
  explicit DepthNeck(DepthSpec spec) : spec_(std::move(spec)) {}

  /// The next map, of the layer that has just been built.
  void take(TransformerBuilder& builder, size_t map);
  /// The depths of each patch's pixels, as rows of outputs.
  void finish(TransformerBuilder& builder);

 private:
  void begin(TransformerBuilder& builder);
  /// Takes every `step`th line and column of the patches.
  Grid every(TransformerBuilder& builder, uint32_t step);
  /// A linear of a weight [rows, columns of in]; of `conv` the names, activation and residual.
  View linear(TransformerBuilder& builder, const Conv& conv, View in, Unit unit,
              const std::vector<float>& weight, std::vector<float> bias);
  View convolve(TransformerBuilder& builder, const Conv& conv, View in, const Grid& from, const Grid& to);
  /// A transposed convolution whose windows do not overlap.
  View grow(TransformerBuilder& builder, const Conv& conv, View in, const Grid& to);
  /// x + convolution(relu(convolution(relu(x)))).
  View residual_block(TransformerBuilder& builder, const std::string& source, const std::string& label,
                      View in, const Grid& grid);
  View resize(TransformerBuilder& builder, View in, const Grid& from, const Grid& to);

  DepthSpec spec_;
  Grid patches_{};
  std::vector<Grid> grids_;     // [maps]
  std::vector<View> features_;  // [maps]
};

void DepthNeck::begin(TransformerBuilder& builder) {
  const PictureFormat& format = builder.picture();
  patches_ = {builder.add_groups(Unit::token, 1, format.before + format.after + 1),
              format.height / format.patch,
              format.width / format.patch,
              {format.any_size ? 1u : 0u}};
  grids_.clear();
  features_.clear();
}

Grid DepthNeck::every(TransformerBuilder& builder, uint32_t step) {
  Grid grid{patches_.unit,
            (patches_.lines - 1) / step + 1,
            (patches_.columns - 1) / step + 1,
            {patches_.scale.times, step}};
  if (grid.scale.times != 0) {
    // A picture of a times b patches has ceil(a / step) * ceil(b / step), not more than ceil(a b / step).
    grid.unit = builder.add_groups(patches_.unit, step, 1);
    return grid;
  }
  const uint32_t ratio = patches_.places() / grid.places();
  grid.unit = builder.add_groups(patches_.unit, ratio, patches_.places() - (grid.places() - 1) * ratio);
  return grid;
}

View DepthNeck::linear(TransformerBuilder& builder, const Conv& conv, View in, Unit unit,
                       const std::vector<float>& weight, std::vector<float> bias) {
  const auto rows = static_cast<uint32_t>(weight.size() / in.width);
  const View out = builder.new_value(rows, unit);
  WeightPart part = builder.tensors().computed(conv.source + ".weight", rows, in.width, weight);
  const DType dtype = builder.policy().dtype(Role::matrix, *part.tensor);
  Projection projection{conv.label, {std::move(part)}, dtype, std::nullopt};
  if (!bias.empty()) projection.bias = std::move(bias);
  BlockInput input{in};
  builder.linears("", input, {std::move(projection)}, out, conv.activation, conv.residual);
  return out;
}

View DepthNeck::convolve(TransformerBuilder& builder, const Conv& conv, View in, const Grid& from,
                         const Grid& to) {
  const uint32_t taps = conv.side * conv.side;
  const std::vector<float> stored =
      builder.tensors().table(conv.source + ".weight", conv.width, in.width * taps);
  std::vector<float> weight(stored.size());  // [width, taps, columns of in] of [width, columns of in, taps]
  for (size_t i = 0; i < stored.size(); ++i) {
    const size_t row = i / (taps * in.width), column = i / taps % in.width, tap = i % taps;
    weight[(row * taps + tap) * in.width + column] = stored[i];
  }
  std::vector<float> bias;
  if (conv.bias) bias = builder.tensors().vector(conv.source + ".bias", conv.width);
  View window = in;
  if (conv.side != 1) {
    window = builder.new_value(taps * in.width, to.unit);
    builder.add(GridFramesNode{from.columns, conv.side, conv.side / 2, conv.step, 0, in, window, from.scale});
  }
  return linear(builder, conv, window, to.unit, weight, std::move(bias));
}

View DepthNeck::grow(TransformerBuilder& builder, const Conv& conv, View in, const Grid& to) {
  const uint32_t taps = conv.side * conv.side, width = in.width;
  const std::vector<float> stored = builder.tensors().table(conv.source + ".weight", width, width * taps);
  const std::vector<float> own_bias = builder.tensors().vector(conv.source + ".bias", width);
  std::vector<float> weight(stored.size()),
      bias;  // [taps, width, columns of in] of [columns of in, width, taps]
  for (size_t i = 0; i < stored.size(); ++i) {
    const size_t column = i / (width * taps), row = i / taps % width, tap = i % taps;
    weight[(tap * width + row) * width + column] = stored[i];
  }
  for (uint32_t tap = 0; tap < taps; ++tap) bias.insert(bias.end(), own_bias.begin(), own_bias.end());
  const View wide = linear(builder, conv, in, patches_.unit, weight, std::move(bias));
  const View out = builder.new_value(width, to.unit);
  builder.add(SplitRowsNode{wide, out, patches_.columns, patches_.scale.times != 0});
  return out;
}

void DepthNeck::take(TransformerBuilder& builder, size_t map) {
  if (map == 0) begin(builder);
  const DepthMap& spec = spec_.maps[map];
  const std::string label = fmt::format("map.{}.", map),
                    source = fmt::format("{}reassemble_stage.layers.{}.", kNeck, map);
  const uint32_t width = builder.x().width;
  const View normed = builder.new_value(width, Unit::token),
             patches = builder.new_value(width, patches_.unit);
  builder.norm("backbone_norm", "backbone.layernorm", builder.x(), normed);
  builder.add(
      GridFramesNode{patches_.columns, 1, 0, 1, builder.picture().before, normed, patches, patches_.scale});
  View feature = convolve(builder, {source + "projection", label + "projection", spec.width, 1}, patches,
                          patches_, patches_);
  Grid grid = patches_;
  Conv conv{source + "resize", label + "resize", spec.width};
  if (spec.times > 1) {
    grid = grown(patches_, builder.add_parts(patches_.unit, spec.times * spec.times), spec.times);
    conv.side = spec.times;
    feature = grow(builder, conv, feature, grid);
  } else if (spec.step > 1) {
    grid = every(builder, spec.step);
    conv.step = spec.step;
    feature = convolve(builder, conv, feature, patches_, grid);
  }
  conv = {fmt::format("{}convs.{}", kNeck, map), label + "conv", spec_.fused_width};
  conv.bias = false;
  features_.push_back(convolve(builder, conv, feature, grid, grid));
  grids_.push_back(grid);
}

View DepthNeck::residual_block(TransformerBuilder& builder, const std::string& source,
                               const std::string& label, View in, const Grid& grid) {
  const View activated = builder.new_value(in.width, grid.unit);
  builder.add(ActivateNode{Activation::relu, in, activated});
  Conv conv{source + "convolution1", label + "1", in.width};
  conv.activation = Activation::relu;
  const View inner = convolve(builder, conv, activated, grid, grid);
  conv = {source + "convolution2", label + "2", in.width};
  conv.residual = in;
  return convolve(builder, conv, inner, grid, grid);
}

View DepthNeck::resize(TransformerBuilder& builder, View in, const Grid& from, const Grid& to) {
  const View out = builder.new_value(in.width, to.unit);
  builder.add(GridResizeNode{from.columns, to.columns, in, out, from.scale, to.scale});
  return out;
}

void DepthNeck::finish(TransformerBuilder& builder) {
  const PictureFormat& format = builder.picture();
  View fused{};
  Grid grid{};
  for (size_t layer = 0; layer < grids_.size(); ++layer) {
    const size_t map = grids_.size() - 1 - layer;
    const std::string source = fmt::format("{}fusion_stage.layers.{}.", kNeck, layer),
                      label = fmt::format("fusion.{}.", layer);
    grid = grids_[map];
    View sum = features_[map];
    if (layer != 0) {
      const View own = residual_block(builder, source + "residual_layer1.", label + "own.", sum, grid);
      sum = builder.new_value(own.width, grid.unit);
      builder.add(ScaleRowsNode{own, sum, -1, 1.0f, fused});
    }
    sum = residual_block(builder, source + "residual_layer2.", label + "sum.", sum, grid);
    const Grid to = map != 0 ? grids_[map - 1] : grown(grid, builder.add_parts(grid.unit, 4), 2);
    const View resized = resize(builder, sum, grid, to);
    grid = to;
    fused = convolve(builder, {source + "projection", label + "projection", spec_.fused_width, 1}, resized,
                     grid, grid);
  }
  View depth = convolve(builder, {"head.conv1", "head.1", spec_.fused_width / 2}, fused, grid, grid);
  const Grid pixels =
      grown(patches_, builder.add_parts(patches_.unit, format.patch * format.patch), format.patch);
  depth = resize(builder, depth, grid, pixels);
  depth = convolve(builder, {"head.conv2", "head.2", spec_.head_width, kConvSide, 1, Activation::relu}, depth,
                   pixels, pixels);
  depth = convolve(builder, {"head.conv3", "head.3", 1, 1, 1, spec_.last}, depth, pixels, pixels);
  builder.scale(depth, spec_.most);
  const View rows = builder.new_value(format.patch * format.patch, patches_.unit);
  builder.add(GridFramesNode{pixels.columns, format.patch, 0, format.patch, 0, depth, rows, pixels.scale});
  builder.put_out(rows);
}

/// A list of numbers of the config, each for a map.
std::vector<double> read_numbers(Config& config, const std::string& key, std::vector<double> fallback) {
  const nlohmann::json* value = config.value(key);
  if (value == nullptr) return fallback;
  std::vector<double> numbers;
  for (const nlohmann::json& one : value->is_array() ? *value : nlohmann::json::array()) {
    if (one.is_number()) numbers.push_back(one.get<double>());
  }
  if (!value->is_array() || numbers.size() != value->size() || numbers.size() != fallback.size())
    config.refuse_value(key, value, fmt::format("a list of {} numbers", fallback.size()));
  return numbers;
}

/// The maps of hidden states that the backbone gives.
std::vector<DepthMap> read_maps(Config& config, Config& backbone, uint32_t layers) {
  const nlohmann::json* indices = backbone.value("out_indices");
  if (indices == nullptr || !indices->is_array() || indices->empty() || indices->size() > kMostMaps)
    backbone.refuse_value("out_indices", indices, "a list of numbers of layers");
  const size_t count = indices->size();
  std::vector<double> widths = {48, 96, 192, 384}, factors = {4, 2, 1, 0.5};
  widths.resize(count);
  factors.resize(count);
  widths = read_numbers(config, "neck_hidden_sizes", widths);
  factors = read_numbers(config, "reassemble_factors", factors);
  std::vector<DepthMap> maps;
  uint32_t last = 0;
  for (size_t i = 0; i < count; ++i) {
    DepthMap map{};
    map.layer = backbone.inner({{"out_indices", (*indices)[i]}}, "").size("out_indices", 1, layers);
    if (map.layer <= last) backbone.refuse("out_indices are not of layers one behind the other");
    last = map.layer;
    if (!(widths[i] >= 1 && widths[i] <= kMaxSize) || widths[i] != std::floor(widths[i]))
      config.refuse("neck_hidden_sizes: {} is no width", widths[i]);
    map.width = static_cast<uint32_t>(widths[i]);
    const double factor = factors[i], times = factor >= 1 ? factor : 1 / factor;
    if (!(times >= 1 && times <= 16) || times != std::floor(times))
      config.refuse("reassemble_factors: {} is not supported; 1 to 16 and 1 / 2 to 1 / 16 are", factor);
    map.times = factor >= 1 ? static_cast<uint32_t>(times) : 1;
    map.step = factor >= 1 ? 1 : static_cast<uint32_t>(times);
    maps.push_back(map);
  }
  return maps;
}

DepthSpec read_neck(Config& config, Config& backbone, const TransformerSpec& spec) {
  DepthSpec depth{};
  depth.maps = read_maps(config, backbone, static_cast<uint32_t>(spec.layers.size()));
  depth.fused_width = config.size("fusion_hidden_size", 2, kMaxSize, 64);
  depth.head_width = config.size("head_hidden_size", 1, kMaxSize, 32);
  const uint32_t width = config.size("reassemble_hidden_size", 1, kMaxSize, spec.width);
  if (width != spec.width)
    config.refuse("reassemble_hidden_size {} is not the backbone's {}", width, spec.width);
  const nlohmann::json* head = config.value("head_in_index");
  if (head != nullptr && *head != -1) config.refuse_value("head_in_index", head, "-1");
  const uint32_t patch = spec.picture.format.patch;
  if (config.size("patch_size", 1, kMaxSize, patch) != patch)
    config.refuse("patch_size is not the backbone's {}", patch);
  const std::string type = config.text("depth_estimation_type", "relative");
  if (type != "relative" && type != "metric") config.refuse("depth_estimation_type {} is unknown", type);
  depth.last = type == "metric" ? Activation::sigmoid : Activation::relu;
  depth.most = static_cast<float>(config.number("max_depth", 1.0));
  return depth;
}

}  // namespace

TransformerSpec read_depth_anything(const Source&, Config& config) {
  const nlohmann::json backbone = object_of_config(config, "backbone_config");
  Config inner = config.inner(backbone, "backbone_config.");
  if (const std::string type = inner.text("model_type", "dinov2"); type != "dinov2")
    config.refuse("backbone_config: model_type {} is not supported, dinov2 is", type);
  if (task_of(config) != "ForDepthEstimation")
    config.refuse("architectures: of Depth Anything, models for depth estimation are supported");
  TransformerSpec spec = read_dinov2_layers(inner, "backbone.");
  require_flag(inner, "reshape_hidden_states", false);
  require_flag(inner, "apply_layernorm", true);
  spec.picture.resizes_in_run = true;
  set_rows(spec);
  spec.names.final_norm.clear();  // of each map by itself
  spec.names.ignored_starts = {"neck.fusion_stage.layers.0.residual_layer1."};
  spec.head.kind = OutputKind::depth;
  spec.head.probabilities = Probabilities::none;
  const DepthSpec depth = read_neck(config, inner, spec);
  const auto neck = std::make_shared<DepthNeck>(depth);
  for (size_t map = 0; map < depth.maps.size(); ++map) {
    spec.layers[depth.maps[map].layer - 1].build = [neck, map](TransformerBuilder& builder,
                                                               const LayerSpec& layer) {
      builder.layer(layer);
      neck->take(builder, map);
    };
  }
  spec.picture.finish = [neck](TransformerBuilder& builder) { neck->finish(builder); };
  inner.finish();
  know(config, {"backbone_config", "backbone", "use_pretrained_backbone", "use_timm_backbone",
                "backbone_kwargs", "initializer_range"});
  return spec;
}

}  // namespace mote::convert
