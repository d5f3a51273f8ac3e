// SPDX-License-Identifier: Apache-2.0
//
// LFM2 (Liquid AI 2025): short convolutions, and attention in some of the layers. LFM2-MoE: the same with
// mixtures of experts but in the first layers.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "converter/architectures/mixtures.h"
#include "converter/architectures/shared/state_space.h"

namespace mote::convert {

void set_lfm_names(const std::string& prefix, LayerNames& names) {
  names.attention_norms.before = prefix + "operator_norm";
  names.ffn_norms.before = prefix + "ffn_norm";
  names.gate = prefix + "feed_forward.w1";
  names.up = prefix + "feed_forward.w3";
  names.down = prefix + "feed_forward.w2";
}

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

/// Reads the parts that the layers of both share: short convolutions, names, attention with norms of q and k.
TransformerSpec read_lfm2_like(const Source& source, Config& config, std::string_view name) {
  TransformerSpec spec = read_llama_like(source, config, name);
  spec.tied_embedding = config.flag("tie_embedding", spec.tied_embedding);
  const std::string base = base_of(source, "model."), prefix = base + "layers.{}.";
  spec.names.final_norm = base + "embedding_norm";
  for (LayerSpec& layer : spec.layers) {
    layer.ffn.activation = Activation::silu;
    set_lfm_names(prefix, layer.names);
    layer.names.o = prefix + "self_attn.out_proj";
    layer.names.q_norm = prefix + "self_attn.q_layernorm";
    layer.names.k_norm = prefix + "self_attn.k_layernorm";
  }
  return spec;
}

struct ConvLayer {
  ShortConvSpec mixer;
  std::string out;
};

ConvLayer read_conv_layer(const Source& source, Config& config) {
  const std::string prefix = base_of(source, "model.") + "layers.{}.conv.";
  ConvLayer layer;
  layer.out = prefix + "out_proj";
  layer.mixer.in = prefix + "in_proj";
  layer.mixer.conv.source = prefix + "conv";
  layer.mixer.conv.taps = read_taps(config, "conv_L_cache", 3);
  layer.mixer.bias = layer.mixer.conv.bias = config.flag("conv_bias", false);
  return layer;
}

void build_conv(TransformerBuilder& builder, const LayerSpec& layer, const ConvLayer& conv) {
  mixer_branch(builder, layer, conv.out, conv.mixer.bias,
               [&](BlockInput& in) { return short_conv(builder, layer, conv.mixer, in); });
}

}  // namespace

TransformerSpec read_lfm2(const Source& source, Config& config) {
  TransformerSpec spec = read_lfm2_like(source, config, "lfm2");
  const ConvLayer conv = read_conv_layer(source, config);
  const std::vector<bool> has_attention = read_attention_layers(config, spec.layers.size());
  const uint32_t ffn_width = read_ffn_width(config);
  for (size_t i = 0; i < spec.layers.size(); ++i) {
    spec.layers[i].ffn.width = ffn_width;
    if (has_attention[i]) continue;
    spec.layers[i].build = [conv](TransformerBuilder& builder, const LayerSpec& self) {
      build_conv(builder, self, conv);
      builder.ffn(self);
    };
  }
  return spec;
}

TransformerSpec read_lfm2_moe(const Source& source, Config& config) {
  TransformerSpec spec = read_lfm2_like(source, config, "lfm2_moe");
  const ConvLayer conv = read_conv_layer(source, config);
  const std::vector<bool> has_attention = read_attention_layers(config, spec.layers.size());
  const std::string prefix = base_of(source, "model.") + "layers.{}.feed_forward.";
  MixtureSpec experts;
  experts.width = config.size("moe_intermediate_size", 1, kMaxSize, 1792);
  read_experts(config, {"num_experts", 32, 4}, experts);
  name_experts(source, prefix + "experts.", {"w1", "w3", "w2"}, experts);
  experts.router = prefix + "gate";
  experts.scores = Scores::sigmoid;
  if (config.flag("use_expert_bias", true)) experts.selection_bias = prefix + "expert_bias";
  experts.normalized = config.flag("norm_topk_prob", true);
  experts.eps = 1e-6f;
  experts.factor = static_cast<float>(config.number("routed_scaling_factor", 1.0));
  const uint32_t dense = config.size("num_dense_layers", 0, kMaxLayers, 2);
  for (size_t i = 0; i < spec.layers.size(); ++i) {
    const bool attends = has_attention[i], is_dense = i < dense;
    if (attends && is_dense) continue;
    spec.layers[i].build = [conv, experts, attends, is_dense](TransformerBuilder& builder,
                                                              const LayerSpec& self) {
      if (attends) {
        builder.attention(self);
      } else {
        build_conv(builder, self, conv);
      }
      if (is_dense) {
        builder.ffn(self);
      } else {
        mixture(builder, self, experts);
      }
    };
  }
  return spec;
}

}  // namespace mote::convert
