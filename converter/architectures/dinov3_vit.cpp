// SPDX-License-Identifier: Apache-2.0
//
// DINOv3 (Meta 2025): a vision transformer whose queries and keys turn by the patch's place in the
// picture, of any size.
#include "converter/architectures/shared/pictures.h"
#include "host/base/error.h"

namespace mote::convert {
namespace {

constexpr uint32_t kMostOfConfig = 4;  // times the patches of the config's size

LayerSpec dinov3_layer(Config& config, uint32_t width) {
  LayerSpec layer;
  layer.attention = equal_heads(config, width, config.size("num_attention_heads", 1, kMaxSize, 6),
                                "hidden_size", "num_attention_heads");
  if (layer.attention.head_dim % 4 != 0)
    config.refuse("heads of {}, a multiple of 4 is supported", layer.attention.head_dim);
  layer.attention.qkv_bias = layer.attention.o_bias = false;  // those that are there are taken
  layer.attention.rope = 0;
  const bool gated = config.flag("use_gated_mlp", false);
  layer.ffn = {gated ? Ffn::gated : Ffn::plain, read_activation(config, "hidden_act", "gelu"),
               config.size("intermediate_size", 1, kMaxSize, 1536), false};
  const std::string prefix = "layer.{}.";
  layer.names =
      pre_norm_names(prefix, {"attention.q_proj", "attention.k_proj", "attention.v_proj", "attention.o_proj",
                              "norm1", "mlp.up_proj", "mlp.down_proj", "norm2"});
  if (gated) layer.names.gate = prefix + "mlp.gate_proj";
  layer.names.attention_norms.scale = prefix + "layer_scale1.lambda1";
  layer.names.ffn_norms.scale = prefix + "layer_scale2.lambda1";
  return layer;
}

}  // namespace

TransformerSpec read_dinov3_vit(const Source&, Config& config) {
  if (!task_of(config).empty()) config.refuse("architectures: of DINOv3, bare models are supported");
  TransformerSpec spec{};
  spec.width = config.size("hidden_size", 1, kMaxSize, 384);
  const LayerSpec layer = dinov3_layer(config, spec.width);
  spec.repeat(layer, config.size("num_hidden_layers", 1, kMaxLayers, 12));
  spec.optional_biases = true;
  set_layer_norms(config, 1e-5, spec);
  spec.names.final_norm = "norm";
  PictureSpec& picture = spec.picture;
  picture.format = read_picture_format(config, 224, 16);
  picture.projection = "embeddings.patch_embeddings";
  picture.before = {{"embeddings.cls_token"}};
  const uint32_t registers = config.size("num_register_tokens", 0, 4096, 0);
  if (registers != 0) {
    picture.before.emplace_back();
    picture.before.back() = {"embeddings.register_tokens", registers};
  }
  spec.names.ignored = {"embeddings.mask_token", "rope_embeddings.inv_freq"};
  spec.head.kind = OutputKind::embedding;
  spec.head.probabilities = Probabilities::none;
  spec.head.pool = PoolKind::first;
  picture.probe = "pooler_output";
  picture.format.any_size = true;
  picture.format.rope_width = layer.attention.head_dim;
  picture.format.rope_base = static_cast<float>(config.number("rope_theta", 100.0));
  if (!(picture.format.rope_base > 0)) config.refuse("rope_theta is not above 0");
  spec.ropes = {{RopeKind::half, std::vector<float>(layer.attention.head_dim / 2)}};
  set_rows(spec);
  spec.context = picture.format.before + kMostOfConfig * picture.format.patches();
  know(config,
       {"query_bias", "key_bias", "value_bias", "proj_bias", "mlp_bias", "attention_dropout",
        "layerscale_value", "drop_path_rate", "pos_embed_shift", "pos_embed_jitter", "pos_embed_rescale",
        "out_features", "out_indices", "apply_layernorm", "reshape_hidden_states", "stage_names"});
  return spec;
}

}  // namespace mote::convert
