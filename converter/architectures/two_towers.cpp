// SPDX-License-Identifier: Apache-2.0
//
// CLIP (Radford et al. 2021) and SigLIP (Zhai et al. 2023): a model of pictures and one of texts, whose
// vectors are compared. Each tower becomes a file of its own.
#include <cmath>
#include <nlohmann/json.hpp>

#include "converter/architectures/shared/vision_language.h"
#include "host/base/error.h"

namespace mote::convert {
namespace {

constexpr uint32_t kLargest = 4;   // times the patches of the table of positions
constexpr float kMasked = -1e30f;  // below every score: the weight is 0

LayerSpec read_tower_layer(Config& config, const std::string& base, uint32_t width, const char* activation,
                           uint32_t heads, uint32_t ffn_width) {
  LayerSpec layer;
  layer.attention = equal_heads(config, width, config.size("num_attention_heads", 1, kMaxSize, heads),
                                "hidden_size", "num_attention_heads");
  layer.ffn = {Ffn::plain, read_activation(config, "hidden_act", activation),
               config.size("intermediate_size", 1, kMaxSize, ffn_width), true};
  layer.names = pre_norm_names(base + "encoder.layers.{}.",
                               {"self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj",
                                "self_attn.out_proj", "layer_norm1", "mlp.fc1", "mlp.fc2", "layer_norm2"});
  return layer;
}

/// The bias of a mask: row i of every head sees keys up to i.
std::vector<float> causal_bias(uint32_t heads, uint32_t context) {
  charge_table({heads, context, context});
  std::vector<float> bias;
  for (uint32_t row = 0; row < heads * context; ++row) {
    for (uint32_t key = 0; key < context; ++key) bias.push_back(key <= row % context ? 0.0f : kMasked);
  }
  return bias;
}

void set_embedding(TransformerSpec& spec) {
  spec.head.kind = OutputKind::embedding;
  spec.head.probabilities = Probabilities::none;
  spec.head.normalize = true;
}

struct Towers {
  bool siglip;
  bool any_size;  // pictures of any ratio, whose positions are resized
  uint32_t vision_patch, text_context;
  const char* activation;
  double eps;
};

/// SigLIP 2: a square of patches, and other ratios of as many and more.
PictureFormat read_any_size(Config& config) {
  PictureFormat format;
  format.patch = config.size("patch_size", 1, 1024, 16);
  format.channels = config.size("num_channels", 1, 4, 3);
  format.positions_side = read_square_side(config, "num_patches", 256);
  format.height = format.width = format.positions_side * format.patch;
  format.any_size = format.channels_last = true;
  return format;
}

TransformerSpec read_vision_tower(const Source& source, Config& config, const Towers& towers) {
  const std::string base = "vision_model.";
  TransformerSpec spec{};
  spec.width = config.size("hidden_size", 1, kMaxSize, 768);
  const LayerSpec layer = read_tower_layer(config, base, spec.width, towers.activation, 12, 3072);
  spec.repeat(layer, config.size("num_hidden_layers", 1, kMaxLayers, 12));
  set_layer_norms(config, towers.eps, spec);
  PictureSpec& picture = spec.picture;
  picture.format =
      towers.any_size ? read_any_size(config) : read_picture_format(config, 224, towers.vision_patch);
  picture.projection = base + "embeddings.patch_embedding";
  picture.positions = base + "embeddings.position_embedding.weight";
  picture.probe = "image_embeds";
  picture.takes_any_size = true;
  set_embedding(spec);
  if (towers.siglip) {
    spec.names.final_norm = base + "post_layernorm";
    require_flag(config, "vision_use_head", true);
    picture.attention_pool = base + "head.";
  } else {
    picture.bias = false;
    picture.before = {{base + "embeddings.class_embedding"}};
    spec.names.embedding_norm = base + "pre_layrnorm";
    picture.pooled_norm = base + "post_layernorm";
    spec.head.pool = PoolKind::first;
    spec.head.output = "visual_projection";
  }
  set_rows(spec);
  if (towers.any_size) spec.context *= kLargest;
  const float scale = read_values(source, "logit_scale", 1)[0];
  picture.format.similarity_scale = std::exp(scale);
  if (towers.siglip) picture.format.similarity_bias = read_values(source, "logit_bias", 1)[0];
  spec.names.ignored_starts = {"text_model.", "text_projection."};
  return spec;
}

TransformerSpec read_text_tower(const Source& source, Config& config, const Towers& towers) {
  const std::string base = "text_model.";
  TransformerSpec spec{};
  spec.vocab = config.size("vocab_size", 1, kMaxSize, towers.siglip ? 32000 : 49408);
  const uint32_t width = towers.siglip ? 768 : 512;
  spec.width = config.size("hidden_size", 1, kMaxSize, width);
  const LayerSpec layer = read_tower_layer(config, base, spec.width, towers.activation,
                                           towers.siglip ? 12 : 8, towers.siglip ? 3072 : 2048);
  spec.repeat(layer, config.size("num_hidden_layers", 1, kMaxLayers, 12));
  set_positions(source, config, config.size("max_position_embeddings", 1, 4096, towers.text_context), 0,
                spec);
  set_layer_norms(config, towers.eps, spec);
  spec.names.embedding = base + "embeddings.token_embedding";
  spec.names.positions = base + "embeddings.position_embedding";
  spec.names.final_norm = base + "final_layer_norm";
  set_embedding(spec);
  spec.head.pool = PoolKind::last;
  know(config, {"pad_token_id", "bos_token_id", "eos_token_id"});
  if (towers.siglip) {
    spec.without_tokenizer = true;
    spec.notes.push_back(fmt::format(
        "texts of SigLIP are filled up to {} tokens, which mote does not do: the file takes ids, not texts",
        spec.context));
  }
  if (!towers.siglip) {  // the last token is the end of the text, which it is pooled at
    spec.biases_by_position = true;
    spec.attention_biases = {causal_bias(layer.attention.heads, spec.context)};
    for (LayerSpec& one : spec.layers) one.attention.bias = 0;
  }
  spec.names.ignored_starts = {"vision_model.", "visual_projection."};
  return spec;
}

/// In CLIP, values of an older key ("text_config_dict") replace the whole object: keys that the values leave
/// out have the class's default. SigLIP's class does not read that key.
Config tower_config(Config& config, const std::string& key, bool siglip) {
  const std::string older_key = key + "_dict";
  const nlohmann::json* older = config.value(older_key);
  if (older == nullptr || siglip) return config.inner(object_of_config(config, key.c_str()), key + ".");
  if (!older->is_object()) config.refuse_value(older_key, older, "an object");
  config.value(key);
  return config.inner(*older, key + ".");  // as whose keys they count
}

TransformerSpec read_two_towers(const Source& source, Config& config, const Towers& towers) {
  know(config, {"logit_scale_init_value", "initializer_factor"});
  if (source.tower != "vision" && source.tower != "text")
    config.refuse("{} has a tower of pictures and one of texts: choose --tower vision or --tower text",
                  towers.siglip ? "SigLIP" : "CLIP");
  const bool vision = source.tower == "vision";
  Config text = tower_config(config, "text_config", towers.siglip),
         pictures = tower_config(config, "vision_config", towers.siglip);
  Config& own = vision ? pictures : text;
  know(own, {"attention_dropout", "dropout", "initializer_factor", "projection_dim", "projection_size"});
  TransformerSpec spec =
      vision ? read_vision_tower(source, own, towers) : read_text_tower(source, own, towers);
  own.finish();
  const uint32_t projection = config.size("projection_dim", 1, kMaxSize, 512);
  if (towers.siglip && !vision) {
    spec.head.projections = {
        {base_of(source, "text_model.") + "head", "", Activation::none, spec.width, true}};
  } else if (!towers.siglip && vision) {
    spec.head.width = projection;
  } else if (!towers.siglip) {
    spec.head.projections = {{"text_projection", "", Activation::none, projection, false}};
  }
  for (const char* name : {"logit_scale", "logit_bias"}) spec.names.ignored_starts.push_back(name);
  spec.names.ignored.emplace_back("embeddings.position_ids");
  return spec;
}

}  // namespace

TransformerSpec read_clip(const Source& source, Config& config) {
  return read_two_towers(source, config, {false, false, 32, 77, "quick_gelu", 1e-5});
}

TransformerSpec read_siglip2(const Source& source, Config& config) {
  return read_two_towers(source, config, {true, true, 16, 64, "gelu_pytorch_tanh", 1e-6});
}

TransformerSpec read_siglip(const Source& source, Config& config) {
  return read_two_towers(source, config, {true, false, 16, 64, "gelu_pytorch_tanh", 1e-6});
}

}  // namespace mote::convert
