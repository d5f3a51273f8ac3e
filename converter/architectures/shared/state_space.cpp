// SPDX-License-Identifier: Apache-2.0
#include "converter/architectures/shared/state_space.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "kernels/recurrent_ops.h"

namespace mote::convert {
namespace {

/// A number, or what transformers writes for one that JSON lacks: {"__float__": "Infinity"}, or the bare
/// Infinity of older files, which parse_json makes a text.
std::optional<double> any_number(const nlohmann::json& value) {
  if (value.is_number()) return value.get<double>();
  const bool wrapped = value.is_object() && value.size() == 1 && value.contains("__float__");
  const nlohmann::json& name = wrapped ? value["__float__"] : value;
  if (name == "Infinity") return std::numeric_limits<double>::infinity();
  if (name == "-Infinity") return -std::numeric_limits<double>::infinity();
  return std::nullopt;
}

}  // namespace

uint32_t read_taps(Config& config, const std::string& key, uint32_t fallback) {
  return config.size(key, 2, kMaxTaps, fallback);
}

Mamba2Spec read_hybrid_mixer(Config& config, uint32_t width) {
  Mamba2Spec mixer;
  mixer.heads = config.size("mamba_n_heads", 1, kMaxSize, 128);
  const nlohmann::json* head = config.value("mamba_d_head");
  mixer.head_dim =
      head == nullptr || *head == "auto" ? width / mixer.heads : config.size("mamba_d_head", 1, kMaxHeadDim);
  mixer.groups = config.size("mamba_n_groups", 1, kMaxSize, 1);
  mixer.states = config.size("mamba_d_state", 1, kMaxStateColumns, 256);
  mixer.bias = config.flag("mamba_proj_bias", false);
  mixer.conv.taps = read_taps(config, "mamba_d_conv", 4);
  mixer.conv.bias = config.flag("mamba_conv_bias", true);
  mixer.conv.activation = Activation::silu;
  mixer.norm_groups = mixer.groups;
  read_time_limits(config, mixer);
  config.value("mamba_chunk_size");
  return mixer;
}

void check_hybrid_mixer(const Config& config, const Mamba2Spec& mixer, uint32_t width) {
  if (uint64_t{mixer.heads} * mixer.head_dim != width || mixer.head_dim > kMaxHeadDim)
    config.refuse("mamba_n_heads {} of mamba_d_head {} are not the {} of the scan", mixer.heads,
                  mixer.head_dim, width);
  if (mixer.heads % mixer.groups != 0)
    config.refuse("mamba_n_heads {} is not a multiple of mamba_n_groups {}", mixer.heads, mixer.groups);
}

void read_time_limits(Config& config, Mamba2Spec& spec) {
  const std::string key = "time_step_limit";
  const nlohmann::json* value = config.value(key);
  spec.dt_min = 0.0f;
  spec.dt_max = std::numeric_limits<float>::infinity();
  if (value == nullptr) {
    if (config.is_null(key)) config.refuse("{} is null", key);
    return;
  }
  const bool is_pair = value->is_array() && value->size() == 2;
  const auto least = is_pair ? any_number((*value)[0]) : std::nullopt;
  const auto most = is_pair ? any_number((*value)[1]) : std::nullopt;
  if (!least || !most || !(*least <= *most)) config.refuse_value(key, value, "two numbers in order");
  spec.dt_min = static_cast<float>(*least);
  spec.dt_max = static_cast<float>(*most);
}

std::vector<float> read_numbers(Config& config, const std::string& key, size_t count, float fallback) {
  const nlohmann::json* value = config.value(key);
  if (value == nullptr) return std::vector<float>(count, fallback);
  const auto is_number = [](const nlohmann::json& item) { return item.is_number(); };
  if (!value->is_array() || value->size() != count || !std::all_of(value->begin(), value->end(), is_number))
    config.refuse_value(key, value, fmt::format("{} numbers", count));
  return value->get<std::vector<float>>();
}

std::vector<std::string> read_layer_types(Config& config, size_t layers,
                                          const std::vector<std::string>& kinds) {
  const std::string key = "layer_types";
  const nlohmann::json* value = config.value(key);
  if (value == nullptr) return {};
  const auto is_kind = [&](const nlohmann::json& item) {
    return item.is_string() && std::find(kinds.begin(), kinds.end(), item.get<std::string>()) != kinds.end();
  };
  if (!value->is_array() || value->size() != layers || !std::all_of(value->begin(), value->end(), is_kind))
    config.refuse_value(key, value, fmt::format("{} of {}", layers, fmt::join(kinds, ", ")));
  return value->get<std::vector<std::string>>();
}

}  // namespace mote::convert
