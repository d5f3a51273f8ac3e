// SPDX-License-Identifier: Apache-2.0
//
// ModernBERT (Warner et al. 2024): layers with norms before the branches, gated feed-forwards and RoPE; most
// see a window on both sides, every third all tokens.
#include <nlohmann/json.hpp>

#include "converter/architectures/shared/architecture.h"
#include "converter/layers/encoder_blocks.h"
#include "host/base/error.h"

namespace mote::convert {
namespace {

constexpr uint32_t kFull = 0, kSliding = 1;  // ropes of layers

/// RoPE of a kind of layers: rope_parameters has an object for each, older configs a theta.
RopeSpec read_kind_rope(Config& config, const std::string& kind, const std::string& old_key, double fallback,
                        uint32_t head_dim) {
  const double old_theta = config.optional_number(old_key).value_or(fallback);
  const nlohmann::json* kinds = config.value("rope_parameters");
  if (kinds == nullptr || !kinds->contains(kind) || (*kinds)[kind].is_null())
    return plain_rope(config, head_dim, old_theta);
  const nlohmann::json& own = (*kinds)[kind];
  if (!own.is_object()) config.refuse_value("rope_parameters." + kind, &own, "an object");
  Config keys = config.inner(own, "rope_parameters." + kind + ".");
  const std::string type = keys.text("rope_type", "default");
  if (type != "default") config.refuse("rope_type {} of {} is not supported, only default is", type, kind);
  const double theta = keys.number("rope_theta", old_theta);
  keys.rest_is_unread();
  keys.finish();
  if (!(theta > 0)) config.refuse("rope_theta of {} is {}, expected more than 0", kind, theta);
  return plain_rope(config, head_dim, theta);
}

/// Says of each layer whether it has a window: by layer_types, or all but every third.
std::vector<bool> read_sliding(Config& config, size_t layers) {
  const nlohmann::json* types = config.value("layer_types");
  const uint32_t every = config.size("global_attn_every_n_layers", 1, kMaxLayers, 3);
  if (types != nullptr && (!types->is_array() || types->size() != layers))
    config.refuse_value("layer_types", types, fmt::format("a list of {} layers", layers));
  std::vector<bool> slides(layers);
  for (size_t layer = 0; layer < layers; ++layer) {
    slides[layer] = layer % every != 0;
    if (types == nullptr) continue;
    const nlohmann::json& type = (*types)[layer];
    if (type != "full_attention" && type != "sliding_attention") {
      config.refuse("layer_types of layer {} is {}, expected full_attention or sliding_attention", layer,
                    type.dump());
    }
    slides[layer] = type == "sliding_attention";
  }
  return slides;
}

LayerSpec read_modernbert_layer(Config& config, uint32_t width, const std::string& base) {
  LayerSpec layer;
  layer.attention = equal_heads(config, width, config.size("num_attention_heads", 1, kMaxSize, 12),
                                "hidden_size", "num_attention_heads");
  layer.attention.qkv_bias = layer.attention.o_bias = config.flag("attention_bias", false);
  layer.ffn = {Ffn::gated, read_activation(config, "hidden_activation", "gelu"),
               config.size("intermediate_size", 1, kMaxSize, 1152), false};
  if (config.flag("mlp_bias", false)) config.refuse("mlp_bias is true, which is not supported");
  const std::string prefix = base + "layers.{}.";
  layer.names.qkv = prefix + "attn.Wqkv";
  layer.names.o = prefix + "attn.Wo";
  layer.names.down = prefix + "mlp.Wo";
  layer.names.attention_norms.before = prefix + "attn_norm";
  layer.names.ffn_norms.before = prefix + "mlp_norm";
  layer.build = [source = prefix + "mlp.Wi"](TransformerBuilder& builder, const LayerSpec& own) {
    builder.attention(own);
    add_fused_ffn(builder, own, source, FusedHalf::first);
  };
  return layer;
}

void read_layers(Config& config, TransformerSpec& spec, const std::string& base) {
  const LayerSpec layer = read_modernbert_layer(config, spec.width, base);
  spec.repeat(layer, config.size("num_hidden_layers", 1, kMaxLayers, 22));
  const uint32_t window = config.size("local_attention", 2, kMaxSize, 128);
  const std::vector<bool> slides = read_sliding(config, spec.layers.size());
  for (size_t i = 0; i < spec.layers.size(); ++i) {
    spec.layers[i].attention.rope = slides[i] ? kSliding : kFull;
    if (slides[i]) spec.layers[i].attention.sides = window / 2;
  }
  spec.layers[0].names.attention_norms.before.clear();
  if (config.has("rope_scaling")) config.refuse("rope_scaling is not supported in this architecture");
  const uint32_t head_dim = layer.attention.head_dim;
  spec.ropes = {read_kind_rope(config, "full_attention", "global_rope_theta", 160000.0, head_dim),
                read_kind_rope(config, "sliding_attention", "local_rope_theta", 10000.0, head_dim)};
}

void read_modernbert_head(const Source& source, Config& config, const std::string& base,
                          TransformerSpec& spec) {
  HeadNames names;
  names.base = base;
  names.classifier = {"head.dense", "head.norm", read_activation(config, "classifier_activation", "gelu"),
                      spec.width, config.flag("classifier_bias", false)};
  names.tokens = names.masked = names.classifier;
  names.vocabulary = "decoder";
  if (config.flag("decoder_bias", true)) names.vocabulary_bias = "decoder.bias";
  const std::string pooling = config.text("classifier_pooling", "cls");
  read_head(source, config, names, spec);
  if (spec.head.kind != OutputKind::sequence_labels) return;
  if (pooling != "cls" && pooling != "mean")
    config.refuse("classifier_pooling {} is not supported; supported are cls, mean", pooling);
  spec.head.pool = pooling == "cls" ? PoolKind::first : PoolKind::mean;
}

}  // namespace

TransformerSpec read_modernbert(const Source& source, Config& config) {
  const std::string base = base_of(source, "model.");
  TransformerSpec spec = read_encoder(source, config, {50368, 768, 8192, 1e-5, "hidden_size", "norm_eps"});
  spec.norm_bias = config.flag("norm_bias", false);
  read_layers(config, spec, base);
  for (const char* key :
       {"deterministic_flash_attn", "initializer_cutoff_factor", "sparse_prediction",
        "sparse_pred_ignore_index", "reference_compile", "repad_logits_with_grad", "position_embedding_type"})
    config.value(key);  // of training and of how the original computes
  spec.names.embedding = base + "embeddings.tok_embeddings";
  spec.names.embedding_norm = base + "embeddings.norm";
  spec.names.final_norm = base + "final_norm";
  read_modernbert_head(source, config, base, spec);
  return spec;
}

}  // namespace mote::convert
