// SPDX-License-Identifier: Apache-2.0
//
// Gemma 4 (Gemma Team 2026), of text and without experts: norms on both sides of a branch and of each head,
// values among them; heads of their own in layers without a window, whose values may be the keys; last layers
// that share the keys and values of earlier ones; inputs of each layer besides x.
#include <cmath>

#include "converter/architectures/shared/architecture.h"

namespace mote::convert {

void set_gemma4_names(const std::string& prefix, std::vector<LayerSpec>& layers) {
  for (LayerSpec& layer : layers) {
    layer.attention.scale = 1.0f;
    LayerNames& names = layer.names;
    names.attention_norms.after = prefix + "post_attention_layernorm";
    names.ffn_norms = {prefix + "pre_feedforward_layernorm", prefix + "post_feedforward_layernorm", ""};
    names.q_norm = prefix + "self_attn.q_norm";
    names.k_norm = prefix + "self_attn.k_norm";
    names.v_norm = kUnweighted;
    names.scalar = prefix + "layer_scalar";
  }
}

void share_last_keys(Config& config, const std::vector<bool>& slides, uint32_t fallback,
                     TransformerSpec& spec) {
  std::vector<LayerSpec>& layers = spec.layers;
  const uint32_t shared =
      config.size("num_kv_shared_layers", 0, static_cast<uint32_t>(layers.size()) - 1, fallback);
  const size_t first = layers.size() - shared;
  for (size_t i = first; i < layers.size(); ++i) {
    size_t from = first;
    while (from != 0 && slides[from - 1] != slides[i]) --from;
    if (from == 0)
      config.refuse("num_kv_shared_layers {}: no layer of its kind is before layer {}", shared, i);
    layers[i].attention.shared = static_cast<uint32_t>(from - 1);
    for (const char* unused : {"k_proj", "v_proj", "k_norm", "v_norm"})  // published files have them
      spec.names.ignored.push_back(fmt::format("layers.{}.self_attn.{}.weight", i, unused));
  }
}

void read_layer_inputs(Config& config, const std::string& base, TransformerSpec& spec) {
  const uint32_t width = config.size("hidden_size_per_layer_input", 0, kMaxHeadDim, 256);
  const uint32_t rows = config.size("vocab_size_per_layer_input", 1, kMaxSize, 262144);
  if (width == 0) return;
  spec.per_layer = {width, rows, base + "embed_tokens_per_layer", base + "per_layer_model_projection",
                    base + "per_layer_projection_norm"};
  for (LayerSpec& layer : spec.layers) {
    const std::string prefix = base + "layers.{}.";
    layer.names.input_gate = prefix + "per_layer_input_gate";
    layer.names.input_projection = prefix + "per_layer_projection";
    layer.names.input_norm = prefix + "post_per_layer_input_norm";
  }
}

namespace {

/// Windows, heads and RoPE of both kinds of layers; returns which slide.
std::vector<bool> read_kinds(Config& config, TransformerSpec& spec) {
  std::vector<bool> slides =
      read_sliding_layers(config, spec.layers.size(), [](uint32_t layer) { return (layer + 1) % 6 != 0; });
  slides.back() = false;  // the original forces the last one
  const uint32_t window = config.size("sliding_window", 1, kMaxSize, 512);
  const uint32_t head_dim = config.size("global_head_dim", 1, kMaxHeadDim, 512);
  const auto heads = config.optional_size("num_global_key_value_heads", 1, kMaxSize);
  const bool values_are_keys = config.flag("attention_k_eq_v", false);
  KindRopeKeys keys{{.theta = 1e6}, {.theta = 1e4, .theta_key = "rope_local_base_freq"}};
  keys.full_head_dim = head_dim;
  keys.sliding_head_dim = spec.layers[0].attention.head_dim;
  KindRopes ropes = read_kind_ropes(config, keys, spec.context);
  spec.ropes = {std::move(ropes.full), std::move(ropes.sliding)};
  for (size_t i = 0; i < slides.size(); ++i) {
    AttentionSpec& attention = spec.layers[i].attention;
    attention.rope = slides[i] ? 1 : 0;
    if (slides[i]) attention.window = window;
    if (slides[i]) continue;
    attention.head_dim = head_dim;
    if (!values_are_keys) continue;
    attention.kv_heads = heads.value_or(attention.kv_heads);
    spec.layers[i].names.v = "";
  }
  return slides;
}

}  // namespace

TransformerSpec read_gemma4_text(const Source& source, Config& config) {
  if (!config.has("rope_parameters")) config.refuse("rope_parameters is missing");
  TransformerSpec spec = read_llama_like(source, config, "gemma4_text");
  spec.embedding_multiplier = std::sqrt(static_cast<float>(spec.width));
  const std::string base = base_of(source, "model.");
  set_gemma4_names(base + "layers.{}.", spec.layers);
  const std::vector<bool> slides = read_kinds(config, spec);
  share_last_keys(config, slides, 0, spec);
  if (config.flag("use_double_wide_mlp", false)) {
    for (LayerSpec& layer : spec.layers)
      if (layer.attention.shared != kNone) layer.ffn.width *= 2;
  }
  read_layer_inputs(config, base, spec);
  if (spec.per_layer.width != 0 && spec.per_layer.rows < spec.vocab) {
    config.refuse("vocab_size_per_layer_input {} is less than vocab_size {}", spec.per_layer.rows,
                  spec.vocab);
  }
  const double cap = config.optional_number("final_logit_softcapping").value_or(0.0);
  if (!(cap >= 0)) config.refuse("final_logit_softcapping is {}", cap);
  spec.logit_softcap = static_cast<float>(cap);
  require_flag(config, "enable_moe_block", false);
  for (const char* unused : {"num_experts", "top_k_experts", "moe_intermediate_size"}) config.value(unused);
  const auto both = config.optional_text("use_bidirectional_attention");
  if (both && *both != "vision") config.refuse("use_bidirectional_attention is \"{}\"", *both);
  return spec;
}

}  // namespace mote::convert
