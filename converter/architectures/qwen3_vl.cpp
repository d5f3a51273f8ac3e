// SPDX-License-Identifier: Apache-2.0
//
// Qwen3-VL (Qwen team 2025) and Qwen3.5: a vision transformer over pictures of any size, whose rows are
// joined by squares, also those of some layers on the way (DeepStack, Meng et al. 2024), and a decoder whose
// RoPE counts a picture's rows and columns.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "converter/architectures/shared/vision_language.h"
#include "converter/layers/transformer_builder.h"
#include "host/base/error.h"

namespace mote::convert {

TransformerSpec read_qwen3(const Source& source, Config& config);
TransformerSpec read_qwen3_5_text(const Source& source, Config& config);

namespace {

constexpr float kMergerEps = 1e-6f;

/// Joins rows by squares: norm, two linears.
struct Merger {
  uint32_t square, width;  // rows; of the outputs
  View out{};              // of the first, then those of layers side by side
  Unit unit{};
};

/// The norm is of rows, or where it `follows`, of what is joined.
void merge_rows(TransformerBuilder& builder, const Merger& merger, const std::string& label,
                const std::string& source, bool follows, View out) {
  const View x = builder.x();
  const uint32_t width = merger.square * x.width;
  const View joined = builder.new_value(width, merger.unit), inner = builder.new_value(width, merger.unit);
  if (follows) {
    builder.add(StackRowsNode{x, joined});
    builder.norm(label + ".norm", source + "norm", joined, joined);
  } else {
    const View normed = builder.new_value(x.width, Unit::token);
    builder.norm(label + ".norm", source + "norm", x, normed);
    builder.add(StackRowsNode{normed, joined});
  }
  builder.linear(label + ".up", source + "linear_fc1", Role::matrix, joined, inner, Activation::gelu, true);
  builder.linear(label + ".down", source + "linear_fc2", Role::matrix, inner, out, Activation::none, true);
}

PictureFormat read_qwen_format(Config& config, uint32_t head_dim) {
  PictureFormat format;
  format.patch = config.size("patch_size", 1, 1024, 16);
  format.channels = config.size("in_channels", 1, 4, 3);
  format.merge = config.size("spatial_merge_size", 1, 16, 2);
  format.frames = config.size("temporal_patch_size", 1, 16, 2);
  format.positions_side = read_square_side(config, "num_position_embeddings", 2304);
  format.positions_by_corners = format.angles_by_place = format.any_size = true;
  if (head_dim % 4 != 0) config.refuse("heads of {}, a multiple of 4 is supported", head_dim);
  format.rope_width = head_dim;
  double theta = 10000.0;
  if (const nlohmann::json* value = config.value("rope_parameters")) {
    if (!value->is_object()) config.refuse_value("rope_parameters", value, "an object");
    Config rope = config.inner(*value, "rope_parameters.");
    if (rope.text("rope_type", "axial") != "axial") rope.refuse("rope_type is not axial");
    theta = rope.number("rope_theta", theta);
    rope.finish();
  }
  format.rope_base = static_cast<float>(theta);
  if (!(theta > 0)) config.refuse("rope_theta is not above 0");
  // The size of pictures where none is given: the file's own test runs on few rows.
  format.height = format.width = 2 * format.patch * format.merge;
  return format;
}

struct DeepLayers {
  std::vector<uint32_t> indices;
};
DeepLayers read_deep_layers(Config& config, size_t layers, bool has_them) {
  if (!has_them) return {};
  DeepLayers deep{{8, 16, 24}};
  if (const nlohmann::json* list = config.value("deepstack_visual_indexes")) {
    if (!list->is_array() || list->size() > 64)
      config.refuse_value("deepstack_visual_indexes", list, "a list");
    deep.indices.clear();
    for (const nlohmann::json& one : *list) {
      const nlohmann::json index = {{"deepstack_visual_indexes", one}};
      deep.indices.push_back(
          config.inner(index, "").size("deepstack_visual_indexes", 0, static_cast<uint32_t>(layers) - 1));
    }
  }
  return deep;
}

struct QwenVision {
  TransformerSpec spec;
  uint32_t deep;  // layers whose rows are joined too
};

QwenVision read_qwen_vision(Config& config, const VisionLanguage& model, bool deepens, uint32_t most_rows) {
  const std::string base = model.vision_base;
  TransformerSpec spec{};
  spec.width = config.size("hidden_size", 1, kMaxSize, 1152);
  LayerSpec layer;
  layer.attention =
      equal_heads(config, spec.width, config.size("num_heads", 1, kMaxSize, 16), "hidden_size", "num_heads");
  layer.attention.rope = 0;
  layer.ffn = {Ffn::plain, read_activation(config, "hidden_act", "gelu_pytorch_tanh"),
               config.size("intermediate_size", 1, kMaxSize, 4304), true};
  const std::string prefix = base + "blocks.{}.";
  layer.names.qkv = prefix + "attn.qkv";
  layer.names.o = prefix + "attn.proj";
  layer.names.up = prefix + "mlp.linear_fc1";
  layer.names.down = prefix + "mlp.linear_fc2";
  layer.names.attention_norms.before = prefix + "norm1";
  layer.names.ffn_norms.before = prefix + "norm2";
  spec.repeat(layer, config.size("depth", 1, kMaxLayers, 27));
  set_layer_norms(kMergerEps, spec);
  spec.ropes = {{RopeKind::half, std::vector<float>(layer.attention.head_dim / 2)}};
  PictureSpec& picture = spec.picture;
  picture.format = read_qwen_format(config, layer.attention.head_dim);
  picture.projection = base + "patch_embed.proj";
  picture.bias_of_linear = true;
  picture.positions = base + "pos_embed.weight";
  auto merger = std::make_shared<Merger>();
  merger->square = picture.format.merge * picture.format.merge;
  merger->width = config.size("out_hidden_size", 1, kMaxSize, 3584);
  const DeepLayers deep = read_deep_layers(config, spec.layers.size(), deepens);
  const auto parts = static_cast<uint32_t>(1 + deep.indices.size());
  for (size_t i = 0; i < spec.layers.size(); ++i) {
    const auto found = std::find(deep.indices.begin(), deep.indices.end(), i);
    const auto part = static_cast<uint32_t>(found - deep.indices.begin());
    spec.layers[i].build = [base, merger, parts, part, begins = i == 0](TransformerBuilder& builder,
                                                                        const LayerSpec& own) {
      if (begins) {
        merger->unit = builder.groups_of_rows(merger->square);
        merger->out = builder.new_value(parts * merger->width, merger->unit);
      }
      builder.layer(own);
      if (part + 1 >= parts) return;
      merge_rows(builder, *merger, fmt::format("deep_merger.{}", part),
                 fmt::format("{}deepstack_merger_list.{}.", base, part), true,
                 columns(merger->out, (part + 1) * merger->width, merger->width));
    };
  }
  picture.finish = [base, merger](TransformerBuilder& builder) {
    merge_rows(builder, *merger, "merger", base + "merger.", false, columns(merger->out, 0, merger->width));
    builder.put_out(merger->out);
  };
  spec.names.ignored_starts = {model.text_base, "lm_head.", "mtp."};
  spec.head.kind = OutputKind::hidden;
  spec.head.probabilities = Probabilities::none;
  know(config, {"initializer_range", "attention_dropout", "tie_word_embeddings", "deepstack_visual_indexes"});
  set_rows(spec);
  spec.context = std::max(spec.context, most_rows);
  return {std::move(spec), parts - 1};
}

constexpr uint32_t kMostRows = 1u << 16;

TransformerSpec read_qwen_vision_language(const Source& source, Config& config, const VisionLanguage& model,
                                          bool deepens, TransformerSpec (*read)(const Source&, Config&),
                                          bool finds_theta) {
  nlohmann::json text = object_of_config(config, "text_config");
  Config vision = config.inner(object_of_config(config, "vision_config"), "vision_config.");
  know(config,
       {"video_token_id", "vision_start_token_id", "vision_end_token_id", "text_config", "vision_config"});
  QwenVision pictures = read_qwen_vision(vision, model, deepens, kMostRows);
  vision.finish();
  if (wants_vision(source, config)) {
    know(config, {"image_token_id", "tie_word_embeddings"});
    return std::move(pictures.spec);
  }
  const std::vector<uint32_t> sections = take_sections(config, text);
  if (finds_theta && !text.contains("rope_theta") && !text.contains("rope_parameters"))
    text["rope_theta"] = 500000.0;
  TransformerSpec spec = read_vision_language_text(source, config, model, read, std::move(text));
  spec.names.ignored_starts.emplace_back("mtp.");
  VisionInputSpec& vision_input = *spec.vision_input;
  vision_input.features = spec.width * (1 + pictures.deep);
  vision_input.mrope = true;
  vision_input.token = "<|image_pad|>";
  vision_input.before = "<|vision_start|>";
  vision_input.after = "<|vision_end|>";
  const auto frequencies = static_cast<uint32_t>(spec.ropes[0].frequencies.size());
  spec.rope_axes = interleaved_axes(sections, frequencies);
  if (pictures.deep > spec.layers.size())
    config.refuse("deepstack_visual_indexes: {} for {} layers of texts", pictures.deep, spec.layers.size());
  return spec;
}

}  // namespace

TransformerSpec read_qwen3_vl(const Source& source, Config& config) {
  return read_qwen_vision_language(source, config, {"model.language_model.", "model.visual.", 151655}, true,
                                   read_qwen3, true);
}

TransformerSpec read_qwen3_5(const Source& source, Config& config) {
  return read_qwen_vision_language(source, config, {"model.language_model.", "model.visual.", 248056}, false,
                                   read_qwen3_5_text, false);
}

}  // namespace mote::convert
