// SPDX-License-Identifier: Apache-2.0
//
// GPT-Neo (Black et al. 2021): GPT-2 with scores that are not scaled and windows in every other layer,
// matrices stored [out, in].
#include <nlohmann/json.hpp>

#include "converter/architectures/shared/architecture.h"

namespace mote::convert {
namespace {

/// Lists of "global" and "local", each with how often it repeats, say which layers have the window.
std::vector<std::string> kinds_of_layers(Config& config) {
  const nlohmann::json fallback = nlohmann::json::parse(R"([[["global", "local"], 12]])");
  const nlohmann::json* given = config.value("attention_types");
  const nlohmann::json& types = given != nullptr ? *given : fallback;
  const auto refuse = [&]() {
    config.refuse_value("attention_types", &types, "lists of \"global\" and \"local\" with their counts");
  };
  std::vector<std::string> kinds;
  if (!types.is_array()) refuse();
  for (const nlohmann::json& entry : types) {
    const bool is_pair = entry.is_array() && entry.size() == 2 && entry[0].is_array() &&
                         entry[1].is_number_unsigned() && entry[1].get<uint64_t>() <= kMaxLayers;
    if (!is_pair) refuse();
    for (uint32_t i = 0; i < entry[1].get<uint32_t>() && kinds.size() <= kMaxLayers; ++i) {
      for (const nlohmann::json& kind : entry[0]) {
        kinds.push_back(kind.is_string() ? kind.get<std::string>() : "");
        if (kinds.back() != "global" && kinds.back() != "local") refuse();
      }
    }
  }
  return kinds;
}

void set_windows(Config& config, uint32_t window, std::vector<LayerSpec>& layers) {
  const std::vector<std::string> kinds = kinds_of_layers(config);
  if (kinds.size() != layers.size())
    config.refuse("attention_types are of {} layers, there are {}", kinds.size(), layers.size());
  const nlohmann::json* expanded = config.value("attention_layers");
  if (expanded != nullptr && *expanded != nlohmann::json(kinds))
    config.refuse("attention_layers and attention_types contradict each other");
  for (size_t i = 0; i < layers.size(); ++i) {
    if (kinds[i] == "local") layers[i].attention.window = window;
  }
}

}  // namespace

TransformerSpec read_gpt_neo(const Source& source, Config& config) {
  const std::string base = base_of(source, "transformer.");
  TransformerSpec spec = read_gpt_like(config, base, "gpt_neo");
  for (LayerSpec& layer : spec.layers) {
    layer.attention.scale = 1.0f;
    layer.attention.qkv_bias = false;
  }
  set_windows(config, config.size("window_size", 1, kMaxSize, 256), spec.layers);
  spec.names.ignored = {".attn.attention.bias", ".attn.attention.masked_bias"};  // causal masks
  return spec;
}

}  // namespace mote::convert
