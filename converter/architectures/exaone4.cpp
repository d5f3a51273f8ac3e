// SPDX-License-Identifier: Apache-2.0
//
// EXAONE 4 (LG AI Research 2025): llama with norms behind the branches and of each head; layers without a
// window have no RoPE where others have one.
#include <nlohmann/json.hpp>

#include "converter/architectures/shared/architecture.h"

namespace mote::convert {
namespace {

/// A number, or a text like "LLLG", whose length it is.
uint32_t read_pattern(Config& config) {
  const nlohmann::json* value = config.value("sliding_window_pattern");
  if (value == nullptr || !value->is_string()) return config.size("sliding_window_pattern", 1, kMaxLayers, 4);
  const std::string text = value->get<std::string>();
  if (text.empty() || text.size() > kMaxLayers || text != std::string(text.size() - 1, 'L') + "G")
    config.refuse_value("sliding_window_pattern", value, "a number or a text like LLLG");
  return static_cast<uint32_t>(text.size());
}

}  // namespace

TransformerSpec read_exaone4(const Source& source, Config& config) {
  TransformerSpec spec = read_llama_like(source, config, "exaone4");
  const auto window = config.optional_size("sliding_window", 1, kMaxSize, 4096);
  const uint32_t pattern = window ? read_pattern(config) : 0;
  config.value("sliding_window_pattern");
  const std::vector<bool> slides = read_sliding_layers(
      config, spec.layers.size(), [&](uint32_t layer) { return pattern != 0 && (layer + 1) % pattern != 0; });
  const std::string prefix = base_of(source, "model.") + "layers.{}.";
  for (size_t i = 0; i < slides.size(); ++i) {
    LayerSpec& layer = spec.layers[i];
    if (slides[i]) layer.attention.window = window.value_or(0);
    if (window && !slides[i]) layer.attention.rope = kNone;
    layer.names.q_norm = prefix + "self_attn.q_norm";
    layer.names.k_norm = prefix + "self_attn.k_norm";
    layer.names.attention_norms = {"", prefix + "post_attention_layernorm", ""};
    layer.names.ffn_norms = {"", prefix + "post_feedforward_layernorm", ""};
  }
  return spec;
}

}  // namespace mote::convert
