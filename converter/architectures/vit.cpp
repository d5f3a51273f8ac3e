// SPDX-License-Identifier: Apache-2.0
//
// The vision transformer (Dosovitskiy et al. 2020) and its closest relatives: DeiT, whose second learned row
// has labels of its own, BEiT with a bias of two distances, DINOv2 with factors of the branches.
#include "converter/architectures/shared/pictures.h"
#include "converter/layers/transformer_builder.h"
#include "host/base/error.h"

namespace mote::convert {

void read_vit_layers(Config& config, const std::string& base, double eps, TransformerSpec& spec) {
  spec.width = config.size("hidden_size", 1, kMaxSize, 768);
  LayerSpec layer;
  layer.attention = equal_heads(config, spec.width, config.size("num_attention_heads", 1, kMaxSize, 12),
                                "hidden_size", "num_attention_heads");
  layer.attention.qkv_bias = config.flag("qkv_bias", true);
  layer.ffn = {Ffn::plain, read_activation(config, "hidden_act", "gelu"),
               config.size("intermediate_size", 1, kMaxSize, 3072), true};
  layer.names = pre_norm_names(base + "encoder.layer.{}.",
                               {"attention.attention.query", "attention.attention.key",
                                "attention.attention.value", "attention.output.dense", "layernorm_before",
                                "intermediate.dense", "output.dense", "layernorm_after"});
  spec.repeat(layer, config.size("num_hidden_layers", 1, kMaxLayers, 12));
  set_layer_norms(config, eps, spec);
  spec.names.final_norm = base + "layernorm";
}

namespace {

struct VitDefaults {
  uint32_t patch = 16;
  double eps = 1e-12;
};

/// Layers, positions and the projection of patches.
TransformerSpec read_vit_like(Config& config, const std::string& base, const VitDefaults& defaults) {
  TransformerSpec spec{};
  read_vit_layers(config, base, defaults.eps, spec);
  PictureSpec& picture = spec.picture;
  picture.format = read_picture_format(config, 224, defaults.patch);
  picture.projection = base + "embeddings.patch_embeddings.projection";
  picture.positions = base + "embeddings.position_embeddings";
  picture.before = {{base + "embeddings.cls_token"}};
  spec.names.ignored = {"embeddings.mask_token"};
  spec.head.pool = PoolKind::first;
  know(config,
       {"encoder_stride", "pooler_output_size", "hidden_dropout_prob", "attention_probs_dropout_prob"});
  return spec;
}

/// The vector of the first row, or labels of it.
void read_picture_head(const Source& source, Config& config, const std::string& base, TransformerSpec& spec) {
  const std::string task = task_of(config);
  if (task.empty()) {
    spec.head.kind = OutputKind::embedding;
    spec.head.probabilities = Probabilities::none;
    spec.picture.probe = "pooler_output";
    spec.names.ignored_starts =
        base.empty() ? std::vector<std::string>{} : std::vector<std::string>{"classifier."};
    return;
  }
  if (task != "ForImageClassification")
    config.refuse("architectures {} is not supported; bare models and those for image classification are",
                  task);
  read_labels_head(source, config, "classifier", spec);
}

/// The pooler of a bare model that has one.
void read_pooler(const Source& source, Config& config, const std::string& base, TransformerSpec& spec) {
  const Activation activation = read_activation(config, "pooler_act", "tanh");
  if (spec.head.kind == OutputKind::embedding && source.tensors.count(base + "pooler.dense.weight") != 0)
    spec.head.dense = {base + "pooler.dense", "", activation, spec.width};
  spec.names.ignored_starts.push_back(base + "pooler.");
}

/// `distilled`: with a second learned row, which may have labels of its own.
TransformerSpec read_classifier(const Source& source, Config& config, const std::string& base,
                                bool distilled) {
  TransformerSpec spec = read_vit_like(config, base, {});
  if (distilled) spec.picture.before.push_back({base + "embeddings.distillation_token"});
  if (distilled && task_of(config) == "ForImageClassificationWithTeacher") {
    read_labels_head(source, config, "cls_classifier", spec);
    spec.picture.second.name = "distillation_classifier";
  } else {
    read_picture_head(source, config, base, spec);
  }
  read_pooler(source, config, base, spec);
  spec.picture.takes_any_size = true;
  set_rows(spec);
  return spec;
}

}  // namespace

TransformerSpec read_vit(const Source& source, Config& config) {
  return read_classifier(source, config, base_of(source, "vit."), false);
}

TransformerSpec read_deit(const Source& source, Config& config) {
  return read_classifier(source, config, base_of(source, "deit."), true);
}

TransformerSpec read_dinov2_layers(Config& config, const std::string& base) {
  know(config, {"intermediate_size"});  // mlp_ratio says it
  TransformerSpec spec = read_vit_like(config, base, {14, 1e-6});
  const bool gated = config.flag("use_swiglu_ffn", false);
  const double ratio = config.number("mlp_ratio", 4.0);
  if (!(ratio > 0 && ratio <= 64)) config.refuse("mlp_ratio is {}", ratio);
  uint32_t width = static_cast<uint32_t>(static_cast<double>(spec.width) * ratio);
  if (gated) width = (static_cast<uint32_t>(static_cast<double>(width) * 2 / 3) + 7) / 8 * 8;
  for (LayerSpec& layer : spec.layers) {
    const std::string prefix = base + "encoder.layer.{}.";
    layer.ffn.width = width;
    LayerNames& names = layer.names;
    names.attention_norms = {prefix + "norm1", "", "", prefix + "layer_scale1.lambda1"};
    names.ffn_norms = {prefix + "norm2", "", "", prefix + "layer_scale2.lambda1"};
    if (gated) {
      layer.ffn.kind = Ffn::gated;
      layer.ffn.activation = Activation::silu;
      names.up.clear();
      names.gate_up = prefix + "mlp.weights_in";
      names.down = prefix + "mlp.weights_out";
    } else {
      names.up = prefix + "mlp.fc1";
      names.down = prefix + "mlp.fc2";
    }
  }
  spec.picture.resizes_positions = spec.picture.format.height == spec.picture.format.width;
  know(config, {"layerscale_value", "drop_path_rate", "use_mask_token", "apply_layernorm", "out_features",
                "out_indices", "reshape_hidden_states", "stage_names"});
  return spec;
}

TransformerSpec read_dinov2(const Source& source, Config& config) {
  const std::string base = base_of(source, "dinov2.");
  TransformerSpec spec = read_dinov2_layers(config, base);
  read_picture_head(source, config, base, spec);
  if (spec.head.kind == OutputKind::sequence_labels) spec.head.more_pools = {PoolKind::mean};
  spec.picture.takes_any_size = true;
  set_rows(spec);
  return spec;
}

namespace {

/// A bias for each pair of rows: of patches by their distances in both directions, and three numbers for
/// pairs with the first row.
std::vector<float> expand_bias(const std::vector<float>& table, uint32_t side, uint32_t heads) {
  charge_table({heads, side, side, side, side});
  const uint32_t reach = 2 * side - 1, rows = side * side + 1, special = reach * reach;
  const auto index = [&](uint32_t query, uint32_t key) {
    if (query == 0) return key == 0 ? special + 2 : special;
    if (key == 0) return special + 1;
    const uint32_t y = (query - 1) / side + side - 1 - (key - 1) / side;
    const uint32_t x = (query - 1) % side + side - 1 - (key - 1) % side;
    return y * reach + x;
  };
  std::vector<float> bias;
  bias.reserve(size_t{heads} * rows * rows);
  for (uint32_t head = 0; head < heads; ++head) {
    for (uint32_t query = 0; query < rows; ++query) {
      for (uint32_t key = 0; key < rows; ++key)
        bias.push_back(table[size_t{index(query, key)} * heads + head]);
    }
  }
  return bias;
}

void read_beit_biases(const Source& source, Config& config, const std::string& base, TransformerSpec& spec) {
  const bool own = config.flag("use_relative_position_bias", false);
  const bool shared = config.flag("use_shared_relative_position_bias", false);
  spec.names.ignored.emplace_back("relative_position_index");
  if (!own && !shared) return;
  if (own && shared)
    config.refuse("both a shared relative_position_bias and those of layers are not supported");
  const PictureFormat& format = spec.picture.format;
  if (format.height != format.width)
    config.refuse("image_size: a relative_position_bias of pictures that are no squares is not supported");
  const uint32_t side = format.height / format.patch, heads = spec.layers[0].attention.heads;
  const uint32_t rows = (2 * side - 1) * (2 * side - 1) + 3;
  spec.biases_by_position = true;
  spec.names.ignored.emplace_back("relative_position_bias_table");
  for (uint32_t i = 0; i < spec.layers.size(); ++i) {
    if (i == 0 || own) {
      const std::string name =
          own ? fmt::format("{}encoder.layer.{}.attention.attention.relative_position_bias.", base, i)
              : base + "encoder.relative_position_bias.";
      spec.attention_biases.push_back(
          expand_bias(read_values(source, name + "relative_position_bias_table", rows * heads), side, heads));
    }
    spec.layers[i].attention.bias = own ? i : 0;
  }
}

}  // namespace

TransformerSpec read_beit(const Source& source, Config& config) {
  const std::string base = base_of(source, "beit.");
  TransformerSpec spec = read_vit_like(config, base, {});
  spec.optional_biases = true;  // keys have none
  const bool scaled = config.number("layer_scale_init_value", 0.1) > 0;
  for (LayerSpec& layer : spec.layers) {
    layer.attention.qkv_bias = false;
    const std::string prefix = base + "encoder.layer.{}.";
    if (scaled) layer.names.attention_norms.scale = prefix + "lambda_1";
    if (scaled) layer.names.ffn_norms.scale = prefix + "lambda_2";
  }
  if (!config.flag("use_absolute_position_embeddings", false)) spec.picture.positions.clear();
  read_beit_biases(source, config, base, spec);
  if (config.flag("use_mean_pooling", true)) {
    spec.head.pool = PoolKind::mean;
    spec.picture.pool_skip = 1;
    spec.picture.pooled_norm = base + "pooler.layernorm";
    spec.names.final_norm.clear();
  }
  know(config, {"vocab_size", "drop_path_rate", "use_mask_token", "pool_scales", "use_auxiliary_head",
                "auxiliary_loss_weight", "auxiliary_channels", "auxiliary_num_convs",
                "auxiliary_concat_input", "semantic_loss_ignore_index", "out_features", "out_indices",
                "add_fpn", "reshape_hidden_states", "stage_names"});
  read_picture_head(source, config, base, spec);
  set_rows(spec);
  return spec;
}

namespace {

/// A layer that but for the first has positions of its own, of `tables`, which are added to what it reads.
void yolos_layer(TransformerBuilder& builder, const LayerSpec& layer, const std::string& table,
                 uint32_t tables) {
  if (layer.weights != 0) {
    const uint32_t width = builder.x().width, stored = builder.stored_positions() * width;
    const std::vector<float> all = builder.tensors().table(table, 1, tables * stored);
    const auto first = all.begin() + static_cast<std::ptrdiff_t>(size_t{layer.weights - 1} * stored);
    std::vector<float> values(first, first + stored);
    const std::string name = prefix_of(layer) + "positions";
    if (builder.resizes_in_run()) {
      builder.add_grid_positions(name, std::move(values));
    } else {
      values = builder.positions_of_picture(std::move(values), width);
      const auto rows = static_cast<uint32_t>(values.size() / width);
      const int32_t weight = builder.add_weight({name, DType::f32, true, rows, width, {}, std::move(values)});
      builder.add(PositionsNode{weight, builder.x()});
    }
  }
  builder.layer(layer);
}

}  // namespace

TransformerSpec read_yolos(const Source& source, Config& config) {
  const std::string base = base_of(source, "vit.");
  TransformerSpec spec = read_vit_like(config, base, {});
  PictureSpec& picture = spec.picture;
  const uint32_t boxes = config.size("num_detection_tokens", 1, 4096, 100);
  picture.after = {{base + "embeddings.detection_tokens", boxes}};
  if (task_of(config) != "ForObjectDetection")
    config.refuse("architectures: of YOLOS, models for object detection are supported");
  spec.head.kind = OutputKind::boxes;
  spec.head.probabilities = Probabilities::softmax;
  spec.head.output = "class_labels_classifier.layers.";
  picture.boxes = "bbox_predictor.layers.";
  picture.resizes_positions = picture.resizes_in_run = true;
  spec.head.labels = read_labels(source, config, spec.head.output + "2", 1);
  spec.head.width = static_cast<uint32_t>(spec.head.labels.size()) + 1;
  set_rows(spec);
  const uint32_t tables = static_cast<uint32_t>(spec.layers.size()) - 1;
  if (config.flag("use_mid_position_embeddings", true) && tables != 0) {
    for (LayerSpec& layer : spec.layers) {
      layer.build = [table = base + "encoder.mid_position_embeddings", tables](TransformerBuilder& builder,
                                                                               const LayerSpec& own) {
        yolos_layer(builder, own, table, tables);
      };
    }
  }
  know(config, {"auxiliary_loss", "class_cost", "bbox_cost", "giou_cost", "bbox_loss_coefficient",
                "giou_loss_coefficient", "eos_coefficient"});
  return spec;
}

}  // namespace mote::convert
