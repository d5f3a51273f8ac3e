// SPDX-License-Identifier: Apache-2.0
//
// LFM3 (Liquid AI 2026): LFM2 with norms on both sides of a branch, a RoPE for each kind of attention, and
// heads whose outputs are gated.
#include "converter/architectures/shared/state_space.h"

namespace mote::convert {
namespace {

/// By layer_types, else as the original alternates.
std::vector<std::string> layer_kinds(Config& config, size_t layers) {
  auto kinds = read_layer_types(config, layers, {"full_attention", "sliding_attention", "conv"});
  for (size_t i = kinds.size(); i < layers; ++i)
    kinds.push_back(i % 4 == 2 ? "full_attention" : i % 4 == 0 && i > 0 ? "sliding_attention" : "conv");
  return kinds;
}

}  // namespace

TransformerSpec read_lfm3(const Source& source, Config& config) {
  TransformerSpec spec = read_llama_like(source, config, "lfm3");
  KindRopeKeys keys;
  keys.full.theta = 1000000.0;
  keys.full_head_dim = keys.sliding_head_dim = spec.layers[0].attention.head_dim;
  KindRopes ropes = read_kind_ropes(config, keys, spec.context);
  spec.ropes = {std::move(ropes.full), std::move(ropes.sliding)};
  const uint32_t window = config.optional_size("sliding_window", 1, kMaxSize, 256).value_or(0);
  const bool sandwich = config.flag("use_sandwich_norm", true),
             gated = config.flag("use_attention_gate", true);
  const std::string base = base_of(source, "model."), prefix = base + "layers.{}.";
  spec.names.final_norm = base + "embedding_norm";

  ShortConvSpec mixer;
  mixer.in = prefix + "conv.in_proj";
  mixer.conv.source = prefix + "conv.conv";
  mixer.conv.taps = read_taps(config, "conv_L_cache", 7);
  mixer.bias = mixer.conv.bias = config.flag("conv_bias", false);
  const auto kinds = layer_kinds(config, spec.layers.size());
  for (size_t i = 0; i < spec.layers.size(); ++i) {
    LayerSpec& layer = spec.layers[i];
    layer.ffn.activation = Activation::silu;
    layer.attention.rope = kinds[i] == "sliding_attention" ? 1 : 0;
    layer.attention.window = kinds[i] == "sliding_attention" ? window : 0;
    LayerNames& names = layer.names;
    set_lfm_names(prefix, names);
    if (sandwich) names.attention_norms.after = prefix + "post_operator_norm";
    if (sandwich) names.ffn_norms.after = prefix + "post_ffn_norm";
    names.q_norm = prefix + "self_attn.q_norm";
    names.k_norm = prefix + "self_attn.k_norm";
    if (gated) names.o_gate = prefix + "self_attn.gate_proj";
    if (kinds[i] != "conv") continue;
    layer.build = [mixer, prefix](TransformerBuilder& builder, const LayerSpec& self) {
      mixer_branch(builder, self, prefix + "conv.out_proj", mixer.bias,
                   [&](BlockInput& in) { return short_conv(builder, self, mixer, in); });
      builder.ffn(self);
    };
  }
  return spec;
}

}  // namespace mote::convert
