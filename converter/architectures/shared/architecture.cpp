// SPDX-License-Identifier: Apache-2.0
#include "converter/architectures/shared/architecture.h"

#include <fmt/ranges.h>

#include <bit>
#include <cmath>
#include <nlohmann/json.hpp>

#include "converter/convert.h"
#include "converter/published_code.h"
#include "host/base/bytes.h"
#include "host/base/did_you_mean.h"
#include "host/base/error.h"

namespace mote::convert {

#define ARCHITECTURE(name, type, kind) TransformerSpec read_##name(const Source& source, Config& config);
#include "converter/architectures/list.inc"
#undef ARCHITECTURE

namespace {

/// In the order of architectures_by_kind().
enum class ModelKind : uint8_t {
  decoder,
  mixture,
  latent,
  state_space,
  encoder,
  encoder_decoder,
  classic,
  sound,
  picture,
  vision_language
};

}  // namespace

const std::vector<Architecture>& architectures() {
  static const std::vector<Architecture> list = {
#define ARCHITECTURE(name, type, kind) {type, read_##name},
#include "converter/architectures/list.inc"
#undef ARCHITECTURE
  };
  return list;
}

std::vector<std::string> architecture_names() {
  std::vector<std::string> names;
  for (const Architecture& architecture : architectures()) names.emplace_back(architecture.name);
  return names;
}

std::vector<ArchitecturesOfKind> architectures_by_kind() {
  std::vector<ArchitecturesOfKind> kinds = {{"decoders", {}},         {"mixtures of experts", {}},
                                            {"latent attention", {}}, {"state spaces and hybrids", {}},
                                            {"encoders", {}},         {"encoder-decoders", {}},
                                            {"classics", {}},         {"sound", {}},
                                            {"pictures", {}},         {"pictures and texts", {}}};
#define ARCHITECTURE(name, type, kind) kinds[static_cast<size_t>(ModelKind::kind)].names.emplace_back(type);
#include "converter/architectures/list.inc"
#undef ARCHITECTURE
  return kinds;
}

WorkBudget budget_of_sizes(const Source& source) {
  uint64_t bytes = 0;
  for (const auto& [name, tensor] : source.tensors) bytes += tensor.rows() * tensor.cols();
  return WorkBudget("the tables that the config's sizes ask for, beside weights", bytes);
}

TransformerSpec Architecture::read(const Source& source, Config& config) const {
  const WorkBudget budget = budget_of_sizes(source);
  return reader(source, config);
}

bool is_architecture(const std::string& type) {
  const auto& all = architectures();
  return std::any_of(all.begin(), all.end(), [&](const Architecture& one) { return type == one.name; });
}

const Architecture& find_architecture(Config& config) {
  const std::string type = config.text("model_type"), published = published_class(config.json());
  if (!published.empty() && !is_class_of(published, type)) config.forget_original();
  for (const Architecture& architecture : architectures()) {
    if (type == architecture.name) return architecture;
  }
  config.refuse("model_type \"{}\" is not supported{}; mote convert --list names those that are", shown(type),
                did_you_mean(type, architecture_names()));
}

void know(Config& config, std::initializer_list<const char*> keys) {
  for (const char* key : keys) config.value(key);
}

void know_spec_augment(Config& config) {
  know(config, {"apply_spec_augment", "mask_feature_length", "mask_feature_min_masks", "mask_feature_prob",
                "mask_time_length", "mask_time_min_masks", "mask_time_prob"});
}

namespace {

/// By torch's names; none for one that is not an activation of a linear.
std::optional<Activation> activation_of(const std::string& name) {
  static const std::pair<const char*, Activation> kNames[] = {
      {"silu", Activation::silu},
      {"swish", Activation::silu},
      {"gelu", Activation::gelu},
      {"gelu_python", Activation::gelu},
      {"gelu_new", Activation::gelu_tanh},
      {"gelu_pytorch_tanh", Activation::gelu_tanh},
      {"gelu_fast", Activation::gelu_tanh},
      {"relu", Activation::relu},
      {"quick_gelu", Activation::quick_gelu},
      {"tanh", Activation::tanh},
  };
  for (const auto& [known, activation] : kNames) {
    if (name == known) return activation;
  }
  return std::nullopt;
}

[[noreturn]] void refuse_activation(const Config& config, const std::string& key, const std::string& name) {
  config.refuse(
      "{} \"{}\" is not supported; supported are silu, swish, gelu, gelu_new, gelu_pytorch_tanh, gelu_fast, "
      "relu, quick_gelu, tanh, and relu2 of feed-forwards",
      key, name);
}

}  // namespace

Activation read_activation(Config& config, const std::string& key, const std::string& fallback) {
  const std::string name = config.text(key, fallback);
  if (const auto activation = activation_of(name)) return *activation;
  refuse_activation(config, key, name);
}

void read_activation(Config& config, const std::string& key, const std::string& fallback, FfnSpec& ffn) {
  ffn.squared = config.text(key, fallback) == "relu2";
  ffn.activation = ffn.squared ? Activation::relu : read_activation(config, key, fallback);
}

void require_flag(Config& config, const std::string& key, bool expected) {
  if (config.value(key) != nullptr && config.flag(key, expected) != expected)
    config.refuse("{} is {}, which is not supported", key, !expected);
}

std::vector<bool> read_sliding_layers(Config& config, size_t layers,
                                      const std::function<bool(uint32_t)>& fallback) {
  std::vector<bool> slides(layers);
  const nlohmann::json* types = config.value("layer_types");
  if (types != nullptr && (!types->is_array() || types->size() != layers))
    config.refuse_value("layer_types", types, fmt::format("a list of {} layers", layers));
  for (uint32_t layer = 0; layer < layers; ++layer) {
    slides[layer] = types == nullptr && fallback(layer);
    if (types == nullptr) continue;
    const std::string type = (*types)[layer].is_string() ? (*types)[layer].get<std::string>() : "";
    if (type != "full_attention" && type != "sliding_attention") {
      config.refuse("layer_types of layer {} is {}, expected full_attention or sliding_attention", layer,
                    (*types)[layer].dump());
    }
    slides[layer] = type == "sliding_attention";
  }
  return slides;
}

std::vector<float> alibi_slopes(uint32_t heads) {
  const uint32_t power = std::bit_floor(heads);
  const auto slope = [](uint32_t of, uint32_t exponent) {
    const float base = static_cast<float>(std::exp2(-8.0 / of));
    return std::pow(base, static_cast<float>(exponent));
  };
  std::vector<float> slopes;
  for (uint32_t i = 1; i <= power; ++i) slopes.push_back(slope(power, i));
  for (uint32_t i = 1; slopes.size() < heads; i += 2) slopes.push_back(slope(2 * power, i));
  return slopes;
}

}  // namespace mote::convert
