// SPDX-License-Identifier: Apache-2.0
//
// Idefics3 (Laurençon et al. 2024) and SmolVLM: SigLIP's vision transformer over tiles, whose rows are joined
// by squares and projected, and a relative of llama.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "converter/architectures/shared/vision_language.h"
#include "converter/layers/transformer_builder.h"
#include "host/base/error.h"

namespace mote::convert {

TransformerSpec read_llama(const Source& source, Config& config);

namespace {

constexpr VisionLanguage kIdefics3 = {"model.text_model.", "model.vision_model.", 128257};
constexpr char kConnector[] = "model.connector.";

/// The row of the table for each patch along a side of `side`, as the original computes it in floats: the
/// number of borders k / side that i / side has reached.
std::vector<uint32_t> positions_along(uint32_t side) {
  charge_table({side, side});
  std::vector<float> borders;
  const double width = 1.0 / side;
  for (uint32_t i = 1; i < side; ++i) borders.push_back(static_cast<float>(width + (i - 1) * width));
  const float step = 1.0f / static_cast<float>(side);
  std::vector<uint32_t> positions;
  for (uint32_t i = 0; i < side; ++i) {
    const float place = std::min(static_cast<float>(i) * step, static_cast<float>(1.0 - 1e-6));
    positions.push_back(static_cast<uint32_t>(
        std::count_if(borders.begin(), borders.end(), [&](float border) { return border <= place; })));
  }
  return positions;
}

/// Returns for each patch, in squares of merge x merge, its row of the table.
std::vector<uint32_t> position_order(const PictureFormat& format) {
  const uint32_t side = format.width / format.patch, merge = format.merge;
  const std::vector<uint32_t> along = positions_along(side);
  std::vector<uint32_t> order;
  for (uint32_t i = 0; i < side * side; ++i) {
    const uint32_t square = i / (merge * merge), inside = i % (merge * merge), across = side / merge;
    const uint32_t y = square / across * merge + inside / merge, x = square % across * merge + inside % merge;
    order.push_back(along[y] * side + along[x]);
  }
  return order;
}

/// Builds a linear of squares of rows side by side.
void connect(TransformerBuilder& builder, uint32_t width, uint32_t square) {
  const View x = builder.x();
  const Unit unit = builder.groups_of_rows(square);
  const View joined = builder.new_value(square * x.width, unit), out = builder.new_value(width, unit);
  builder.add(StackRowsNode{x, joined});
  builder.linear("connector", std::string(kConnector) + "modality_projection.proj", Role::matrix, joined, out,
                 Activation::none, false);
  builder.put_out(out);
}

TransformerSpec read_idefics3_vision(Config& config, uint32_t merge, uint32_t text_width) {
  const std::string base = kIdefics3.vision_base;
  TransformerSpec spec{};
  spec.width = config.size("hidden_size", 1, kMaxSize, 1152);
  LayerSpec layer;
  layer.attention = equal_heads(config, spec.width, config.size("num_attention_heads", 1, kMaxSize, 16),
                                "hidden_size", "num_attention_heads");
  layer.ffn = {Ffn::plain, read_activation(config, "hidden_act", "gelu_pytorch_tanh"),
               config.size("intermediate_size", 1, kMaxSize, 3072), true};
  layer.names = pre_norm_names(base + "encoder.layers.{}.",
                               {"self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj",
                                "self_attn.out_proj", "layer_norm1", "mlp.fc1", "mlp.fc2", "layer_norm2"});
  spec.repeat(layer, config.size("num_hidden_layers", 1, kMaxLayers, 12));
  set_layer_norms(config, 1e-6, spec);
  PictureSpec& picture = spec.picture;
  picture.format = read_picture_format(config, 224, 32);
  PictureFormat& format = picture.format;
  format.merge = merge;
  if (format.height != format.width || format.width % (format.patch * merge) != 0)
    config.refuse("image_size {} x {} is no square of {} x {} patches", format.height, format.width, merge,
                  merge);
  picture.projection = base + "embeddings.patch_embedding";
  picture.positions = base + "embeddings.position_embedding.weight";
  picture.position_order = position_order(format);
  picture.finish = [text_width, merge](TransformerBuilder& builder) {
    connect(builder, text_width, merge * merge);
  };
  spec.names.final_norm = base + "post_layernorm";
  spec.names.ignored = {"embeddings.position_ids"};
  spec.names.ignored_starts = {kIdefics3.text_base, "lm_head."};
  spec.head.kind = OutputKind::hidden;
  spec.head.probabilities = Probabilities::none;
  know(config, {"attention_dropout", "max_image_size", "size", "tie_word_embeddings", "use_base_siglip"});
  set_rows(spec);
  return spec;
}

constexpr const char kWholePicture[] = "<fake_token_around_image><global-img>";

}  // namespace

TransformerSpec read_idefics3(const Source& source, Config& config) {
  nlohmann::json text = object_of_config(config, "text_config");
  Config vision = config.inner(object_of_config(config, "vision_config"), "vision_config.");
  const uint32_t merge = config.size("scale_factor", 1, 16, 2);
  if (!text.contains("rms_norm_eps")) text["rms_norm_eps"] = 1e-5;
  know(config,
       {"_pad_token_id", "text_config", "vision_config", "use_reentrant_checkpointing", "vocab_size"});
  // The text's, copied to the top of some files, where the original reads none of them.
  know(config, {"hidden_act", "hidden_size", "intermediate_size", "num_attention_heads", "num_hidden_layers",
                "num_key_value_heads", "rms_norm_eps", "rope_theta"});
  const uint32_t width = config.inner(text, "text_config.").size("hidden_size", 1, kMaxSize, 4096);
  TransformerSpec pictures = read_idefics3_vision(vision, merge, width);
  vision.finish();
  if (wants_vision(source, config)) {
    know(config, {"image_token_id", "tie_word_embeddings"});
    return pictures;
  }
  for (const char* key :
       {"_flash_attn_2_enabled", "neftune_noise_alpha", "pixel_shuffle_factor", "qk_layer_norms",
        "use_resampler", "perceiver_config", "is_llama_config", "transformers.js_config"})
    text.erase(key);
  const std::string type = config.inner(text, "text_config.").text("model_type", "llama");
  if (type != "llama") config.refuse("text_config: model_type {} is not supported, llama is", type);
  TransformerSpec spec = read_vision_language_text(source, config, kIdefics3, read_llama, std::move(text));
  spec.names.ignored_starts.emplace_back(kConnector);
  VisionInputSpec& vision_input = *spec.vision_input;
  vision_input.rows = pictures.picture.format.patches() / (merge * merge);
  vision_input.token = "<image>";
  vision_input.before = kWholePicture;
  vision_input.whole_before = kWholePicture;
  vision_input.after = "<fake_token_around_image>";
  vision_input.tile_before = "<fake_token_around_image><row_{row}_col_{column}>";
  vision_input.line_after.assign(1, '\n');
  return spec;
}

}  // namespace mote::convert
