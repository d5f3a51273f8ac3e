// SPDX-License-Identifier: Apache-2.0
//
// LFM2 (Liquid AI 2025): short convolutions, and attention in some of the layers.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "converter/architectures/state_space.h"

namespace mote::convert {
namespace {

/// Which layers have attention: by layer_types, else by full_attn_idxs, else all.
std::vector<bool> read_attention_layers(Config& config, size_t layers) {
  const auto types = read_layer_types(config, layers, {"full_attention", "conv"});
  const nlohmann::json* indices = config.value("full_attn_idxs");
  std::vector<bool> result(layers, types.empty() && indices == nullptr);
  for (size_t i = 0; i < types.size(); ++i) result[i] = types[i] == "full_attention";
  if (!types.empty() || indices == nullptr) return result;
  for (const nlohmann::json& index : *indices) {
    if (!index.is_number_unsigned() || index.get<uint64_t>() >= layers)
      config.refuse_value("full_attn_idxs", indices, "numbers of layers");
    result[index.get<size_t>()] = true;
  }
  return result;
}

uint32_t read_ffn_width(Config& config) {
  const uint32_t stated = config.size("intermediate_size", 1, kMaxSize, 12288);
  uint64_t width = config.size("block_ff_dim", 1, kMaxSize, stated);
  const bool adjusts = config.flag("block_auto_adjust_ff_dim", true);
  const double factor = config.optional_number("block_ffn_dim_multiplier").value_or(1.0);
  const uint32_t multiple = config.size("block_multiple_of", 1, kMaxSize, 256);
  if (!adjusts) return static_cast<uint32_t>(width);
  if (!(factor > 0 && factor < 1e6)) config.refuse("block_ffn_dim_multiplier is {}", factor);
  width = 2 * width / 3;
  if (!config.is_null("block_ffn_dim_multiplier"))
    width = static_cast<uint64_t>(factor * static_cast<double>(width));
  width = (width + multiple - 1) / multiple * multiple;
  if (width == 0 || width > kMaxSize) config.refuse("the feed-forward is {} wide", width);
  return static_cast<uint32_t>(width);
}

}  // namespace

TransformerSpec read_lfm2(const Source& source, Config& config) {
  if (!config.has("rope_theta") && !config.has("rope_parameters")) config.refuse("rope_theta is missing");
  LlamaDefaults defaults{.vocab = 65536, .ffn_width = 12288, .context = 128000, .kv_heads = 8};
  defaults.mlp_bias = defaults.attention_bias = false;
  defaults.bos_id = 1;
  TransformerSpec spec = read_llama_like(source, config, defaults);
  spec.norm_eps = static_cast<float>(config.number("norm_eps", 1e-5));
  spec.tied_embedding = config.flag("tie_embedding", config.flag("tie_word_embeddings", true));
  const std::string base = base_of(source, "model."), prefix = base + "layers.{}.";
  spec.names.final_norm = base + "embedding_norm";

  ShortConvSpec mixer;
  mixer.in = prefix + "conv.in_proj";
  mixer.conv.source = prefix + "conv.conv";
  mixer.conv.taps = read_taps(config, "conv_L_cache", 3);
  mixer.bias = mixer.conv.bias = config.flag("conv_bias", false);
  const std::vector<bool> has_attention = read_attention_layers(config, spec.layers.size());
  const uint32_t ffn_width = read_ffn_width(config);
  for (size_t i = 0; i < spec.layers.size(); ++i) {
    LayerSpec& layer = spec.layers[i];
    layer.ffn.activation = Activation::silu;
    layer.ffn.width = ffn_width;
    LayerNames& names = layer.names;
    names.attention_norms.before = prefix + "operator_norm";
    names.ffn_norms.before = prefix + "ffn_norm";
    names.o = prefix + "self_attn.out_proj";
    names.q_norm = prefix + "self_attn.q_layernorm";
    names.k_norm = prefix + "self_attn.k_layernorm";
    names.gate = prefix + "feed_forward.w1";
    names.up = prefix + "feed_forward.w3";
    names.down = prefix + "feed_forward.w2";
    if (has_attention[i]) continue;
    layer.build = [mixer, prefix](TransformerBuilder& builder, const LayerSpec& self) {
      mixer_branch(builder, self, prefix + "conv.out_proj", mixer.bias,
                   [&](BlockInput& in) { return short_conv(builder, self, mixer, in); });
      builder.ffn(self);
    };
  }
  return spec;
}

}  // namespace mote::convert
