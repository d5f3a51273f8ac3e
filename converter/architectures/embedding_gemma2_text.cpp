// SPDX-License-Identifier: Apache-2.0
//
// EmbeddingGemma 2 (Gemma Team 2026), of text: layers as Gemma 4's that see both sides, whose inputs besides
// x are projected of the embedding alone; the token vectors are projected to another width.
#include <cmath>
#include <nlohmann/json.hpp>

#include "converter/architectures/architecture.h"

namespace mote::convert {
namespace {

void set_embedding_names(const std::string& base, TransformerSpec& spec) {
  const std::string prefix = base + "layers.{}.";
  for (LayerSpec& layer : spec.layers) {
    LayerNames& names = layer.names;
    layer.attention.scale = 1.0f;
    names.attention_norms.after = prefix + "post_attention_layernorm";
    names.ffn_norms = {prefix + "pre_feedforward_layernorm", prefix + "post_feedforward_layernorm", ""};
    names.q_norm = prefix + "self_attn.q_norm";
    names.k_norm = prefix + "self_attn.k_norm";
    names.v_norm = kUnweighted;
    names.scalar = prefix + "layer_scalar";
    names.input_gate = prefix + "ple_block.per_layer_input_gate";
    names.input_projection = prefix + "ple_block.per_layer_projection";
    names.input_norm = prefix + "ple_block.post_per_layer_input_norm";
  }
}

/// Heads of single layers, which per_layer_config has by their number.
void read_layer_heads(Config& config, std::vector<LayerSpec>& layers) {
  const nlohmann::json* all = config.value("per_layer_config");
  if (all == nullptr) config.refuse("per_layer_config is missing");
  if (!all->is_object()) config.refuse_value("per_layer_config", all, "an object");
  size_t known = 0;
  for (size_t i = 0; i < layers.size(); ++i) {
    const std::string key = std::to_string(i);
    if (!all->contains(key)) continue;
    ++known;
    if (!(*all)[key].is_object()) config.refuse_value("per_layer_config", all, "objects by layer");
    Config own = config.inner((*all)[key], "per_layer_config." + key + ".");
    AttentionSpec& attention = layers[i].attention;
    attention.head_dim = own.size("head_dim", 1, kMaxHeadDim, attention.head_dim);
    attention.kv_heads = own.size("num_key_value_heads", 1, kMaxSize, attention.kv_heads);
    own.finish();
  }
  if (known != all->size()) config.refuse("per_layer_config names layers that there are not");
}

void read_kinds_of_layers(Config& config, TransformerSpec& spec) {
  std::vector<bool> slides =
      read_sliding_layers(config, spec.layers.size(), [](uint32_t layer) { return (layer + 1) % 6 != 0; });
  slides.back() = false;  // the original forces the last one
  const uint32_t window = config.size("sliding_window", 1, kMaxSize, 512);
  KindRopeKeys keys{{.theta = 1e6}, {.theta = 1e4, .theta_key = "rope_local_base_freq"}};
  for (size_t i = 0; i < slides.size(); ++i) {
    AttentionSpec& attention = spec.layers[i].attention;
    uint32_t& head_dim = slides[i] ? keys.sliding_head_dim : keys.full_head_dim;
    if (head_dim != 0 && head_dim != attention.head_dim)
      config.refuse("head_dim {} of layer {}, {} of another of its kind", attention.head_dim, i, head_dim);
    head_dim = attention.head_dim;
    attention.rope = slides[i] ? 1 : 0;
    if (slides[i]) attention.sides = window;
  }
  if (keys.sliding_head_dim == 0) keys.sliding_head_dim = keys.full_head_dim;
  KindRopes ropes = read_kind_ropes(config, keys, spec.context);
  spec.ropes = {std::move(ropes.full), std::move(ropes.sliding)};
}

}  // namespace

TransformerSpec read_embedding_gemma2_text(const Source& source, Config& config) {
  LlamaDefaults defaults{.vocab = 262144, .ffn_width = 2048, .context = 262144};
  defaults.width = 512;
  defaults.layers = 24;
  defaults.heads = 4;
  defaults.kv_heads = 2;
  defaults.kv_heads_null = false;
  defaults.head_dim = 256;
  defaults.bos_id = 2;
  defaults.activation_key = "hidden_activation";
  defaults.activation = "gelu_pytorch_tanh";
  defaults.mlp_bias = false;
  defaults.own_ropes = true;
  TransformerSpec spec = read_llama_like(source, config, defaults);
  spec.embedding_multiplier = std::sqrt(static_cast<float>(spec.width));
  if (source.max_tokens != 0 && source.max_tokens < spec.context) spec.context = source.max_tokens;
  const std::string base = base_of(source, "model.");
  set_embedding_names(base, spec);
  read_layer_heads(config, spec.layers);
  read_kinds_of_layers(config, spec);
  const uint32_t inputs = config.size("hidden_size_per_layer_input", 1, kMaxHeadDim, 512);
  spec.per_layer = {inputs, 0, "", base + "ple.per_layer_model_projection",
                    base + "ple.per_layer_projection_norm"};
  HeadNames names;
  names.base = base;
  read_head(source, config, names, spec);
  spec.head.tokens = {base + "embedding_projection", "", Activation::none,
                      config.size("embedding_dim", 1, kMaxSize, 768), false};
  spec.tied_embedding = false;
  return spec;
}

}  // namespace mote::convert
