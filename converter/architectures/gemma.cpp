// SPDX-License-Identifier: Apache-2.0
//
// Gemma 1 to 3 (Gemma Team 2024, 2025): llama whose norms multiply by 1 + weight and whose embedding is
// scaled by the root of the width. Gemma 2 has norms on both sides of a branch, windows in every other layer
// and capped scores and logits, Gemma 3 norms of the heads and a RoPE for each kind of layer. EmbeddingGemma
// is a Gemma 3 whose attention is bidirectional.
#include <cmath>
#include <utility>

#include "converter/architectures/shared/architecture.h"

namespace mote::convert {
namespace {

TransformerSpec read_gemma_like(const Source& source, Config& config, std::string_view name) {
  TransformerSpec spec = read_llama_like(source, config, name);
  spec.norm_plus_one = source.format != "gguf";  // whose weights have it in them
  spec.embedding_multiplier = std::sqrt(static_cast<float>(spec.width));
  return spec;
}

/// Sets norms on both sides of each branch, the scale of scores and the caps of scores and logits.
void read_sandwich(const Source& source, Config& config, std::optional<double> cap,
                   std::optional<double> logit_cap, TransformerSpec& spec) {
  const double scalar = config.number("query_pre_attn_scalar", 256);
  if (!(scalar > 0)) config.refuse("query_pre_attn_scalar is {}", scalar);
  const auto read_cap = [&](const char* key, std::optional<double> fallback) {
    const double otherwise = config.is_null(key) ? 0 : fallback.value_or(0);
    const double value = config.optional_number(key).value_or(otherwise);
    if (!(value >= 0)) config.refuse("{} is {}", key, value);
    return static_cast<float>(value);
  };
  const float softcap = read_cap("attn_logit_softcapping", cap);
  spec.logit_softcap = read_cap("final_logit_softcapping", logit_cap);
  const std::string prefix = base_of(source, "model.") + "layers.{}.";
  for (LayerSpec& layer : spec.layers) {
    layer.attention.scale = static_cast<float>(1.0 / std::sqrt(scalar));
    layer.attention.softcap = softcap;
    layer.names.attention_norms.after = prefix + "post_attention_layernorm";
    layer.names.ffn_norms = {prefix + "pre_feedforward_layernorm", prefix + "post_feedforward_layernorm", ""};
  }
}

/// EmbeddingGemma (Schechter Vera et al. 2025): a query of a layer that slides sees half the window on either
/// side, and that of any other layer all tokens.
void make_encoder(const Source& source, Config& config, TransformerSpec& spec) {
  for (LayerSpec& layer : spec.layers) layer.attention.sides = std::exchange(layer.attention.window, 0) / 2;
  if (source.max_tokens != 0 && source.max_tokens < spec.context) spec.context = source.max_tokens;
  HeadNames names;
  names.base = base_of(source, "model.");
  read_head(source, config, names, spec);
  spec.tied_embedding = false;
}

}  // namespace

TransformerSpec read_gemma(const Source& source, Config& config) {
  TransformerSpec spec = read_gemma_like(source, config, "gemma");
  require_flag(config, "use_bidirectional_attention", false);
  // The original took gelu for its approximation by tanh, and older configs still say so.
  if (config.text("hidden_act", "gelu_pytorch_tanh") != "gelu" &&
      read_activation(config, "hidden_act", "gelu_pytorch_tanh") != Activation::gelu_tanh)
    config.refuse("hidden_act is not gelu_pytorch_tanh");
  const auto newer = config.optional_text("hidden_activation");
  if (newer && *newer != "gelu_pytorch_tanh") config.refuse("hidden_activation is not gelu_pytorch_tanh");
  for (LayerSpec& layer : spec.layers) layer.ffn.activation = Activation::gelu_tanh;
  return spec;
}

TransformerSpec read_gemma2(const Source& source, Config& config) {
  TransformerSpec spec = read_gemma_like(source, config, "gemma2");
  require_flag(config, "use_bidirectional_attention", false);
  read_sandwich(source, config, 50.0, 30.0, spec);
  const auto window = config.optional_size("sliding_window", 1, kMaxSize, 4096);
  const std::vector<bool> slides =
      read_sliding_layers(config, spec.layers.size(), [](uint32_t layer) { return layer % 2 == 0; });
  for (size_t i = 0; i < slides.size(); ++i) {
    if (slides[i]) spec.layers[i].attention.window = window.value_or(0);
  }
  return spec;
}

TransformerSpec read_gemma3_text(const Source& source, Config& config) {
  TransformerSpec spec = read_gemma_like(source, config, "gemma3_text");
  read_sandwich(source, config, std::nullopt, std::nullopt, spec);
  const uint32_t head_dim = spec.layers[0].attention.head_dim;
  KindRopeKeys keys{{.theta = 1e6}, {.theta = 1e4, .theta_key = "rope_local_base_freq"}};
  keys.full_head_dim = keys.sliding_head_dim = head_dim;
  KindRopes ropes = read_kind_ropes(config, keys, spec.context);
  spec.ropes = {std::move(ropes.full), std::move(ropes.sliding)};
  const auto window = config.optional_size("sliding_window", 1, kMaxSize, 4096);
  const uint32_t pattern = config.size("sliding_window_pattern", 1, kMaxLayers, 6);
  const std::vector<bool> slides = read_sliding_layers(
      config, spec.layers.size(), [&](uint32_t layer) { return (layer + 1) % pattern != 0; });
  const std::string prefix = base_of(source, "model.") + "layers.{}.";
  for (size_t i = 0; i < slides.size(); ++i) {
    LayerSpec& layer = spec.layers[i];
    layer.attention.window = slides[i] ? window.value_or(0) : 0;
    layer.attention.rope = slides[i] ? 1 : 0;
    layer.names.q_norm = prefix + "self_attn.q_norm";
    layer.names.k_norm = prefix + "self_attn.k_norm";
  }
  if (config.flag("use_bidirectional_attention", false)) make_encoder(source, config, spec);
  return spec;
}

}  // namespace mote::convert
