// SPDX-License-Identifier: Apache-2.0
//
// EmbeddingGemma 2 (Google 2026), its text model: Gemma 4's layers that see both sides, with inputs of the
// layers that have no table, and a projection of the last hidden states.
#include <cmath>
#include <nlohmann/json.hpp>

#include "converter/architectures/shared/architecture.h"

namespace mote::convert {
namespace {

/// Heads of the layers that per_layer_config names by their index, or else of those that do not slide.
void read_heads(Config& config, const std::vector<bool>& slides, std::vector<LayerSpec>& layers) {
  const uint32_t head_dim = config.size("global_head_dim", 1, kMaxHeadDim, 512);
  const uint32_t kv_heads = config.size("num_global_key_value_heads", 1, kMaxSize, 1);
  const nlohmann::json* given = config.value("per_layer_config");
  if (given != nullptr && !given->is_object()) config.refuse_value("per_layer_config", given, "an object");
  for (size_t i = 0; i < layers.size(); ++i) {
    AttentionSpec& attention = layers[i].attention;
    const std::string index = std::to_string(i);
    if (given == nullptr) {
      if (slides[i]) continue;
      attention.head_dim = head_dim;
      attention.kv_heads = kv_heads;
    } else if (given->contains(index)) {
      Config layer = config.inner((*given)[index], "per_layer_config." + index + ".");
      attention.head_dim = layer.size("head_dim", 1, kMaxHeadDim, attention.head_dim);
      attention.kv_heads = layer.size("num_key_value_heads", 1, kMaxSize, attention.kv_heads);
      layer.finish();
    }
  }
}

/// The two ropes turn heads of the widths that layers of their kind have.
void read_ropes(Config& config, const std::vector<bool>& slides, TransformerSpec& spec) {
  KindRopeKeys keys{{.theta = 1e6}, {.theta = 1e4}};
  for (size_t i = 0; i < slides.size(); ++i) {
    AttentionSpec& attention = spec.layers[i].attention;
    attention.rope = slides[i] ? 1 : 0;
    uint32_t& head_dim = slides[i] ? keys.sliding_head_dim : keys.full_head_dim;
    if (head_dim != 0 && head_dim != attention.head_dim)
      config.refuse("per_layer_config: layers of one kind have heads of {} and of {} columns", head_dim,
                    attention.head_dim);
    head_dim = attention.head_dim;
  }
  if (keys.sliding_head_dim == 0) keys.sliding_head_dim = keys.full_head_dim;
  KindRopes ropes = read_kind_ropes(config, keys, spec.context);
  spec.ropes = {std::move(ropes.full), std::move(ropes.sliding)};
}

void set_names(const std::string& prefix, std::vector<LayerSpec>& layers) {
  set_gemma4_names(prefix, layers);
  for (LayerSpec& layer : layers) {
    LayerNames& names = layer.names;
    names.input_gate = prefix + "ple_block.per_layer_input_gate";
    names.input_projection = prefix + "ple_block.per_layer_projection";
    names.input_norm = prefix + "ple_block.post_per_layer_input_norm";
  }
}

}  // namespace

TransformerSpec read_embedding_gemma2_text(const Source& source, Config& config) {
  TransformerSpec spec = read_llama_like(source, config, "embedding_gemma2_text");
  if (source.max_tokens != 0 && source.max_tokens < spec.context) spec.context = source.max_tokens;
  spec.embedding_multiplier = std::sqrt(static_cast<float>(spec.width));
  const std::string base = base_of(source, "model.");
  const uint32_t pattern = config.size("sliding_window_pattern", 1, kMaxLayers, 6);
  std::vector<bool> slides = read_sliding_layers(config, spec.layers.size(),
                                                 [&](uint32_t layer) { return (layer + 1) % pattern != 0; });
  slides.back() = false;  // the original forces the last one
  const uint32_t sides = config.size("sliding_window", 1, kMaxSize, 512);
  read_heads(config, slides, spec.layers);
  read_ropes(config, slides, spec);
  set_names(base + "layers.{}.", spec.layers);
  for (size_t i = 0; i < slides.size(); ++i) {
    if (slides[i]) spec.layers[i].attention.sides = sides;
  }
  spec.per_layer = {config.size("hidden_size_per_layer_input", 1, kMaxHeadDim, 512), 0, "",
                    base + "ple.per_layer_model_projection", base + "ple.per_layer_projection_norm"};
  spec.output_width = config.size("embedding_dim", 1, kMaxSize, 768);
  spec.names.output_projection = base + "embedding_projection";
  HeadNames names;
  names.base = base;
  read_head(source, config, names, spec);
  spec.tied_embedding = false;
  return spec;
}

}  // namespace mote::convert
