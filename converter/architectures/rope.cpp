// SPDX-License-Identifier: Apache-2.0
//
// RoPE frequencies (Su et al. 2021) and their scalings for longer contexts, in f32 and in the order of
// operations of transformers' modeling_rope_utils.py, because a rounding here is multiplied by the position.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>

#include "converter/architectures/architecture.h"
#include "converter/error.h"

namespace mote::convert {
namespace {

/// base^(2 i / R).
std::vector<float> wavelength_powers(double base, uint32_t rotary_width) {
  std::vector<float> powers(rotary_width / 2);
  for (size_t i = 0; i < powers.size(); ++i) {
    const float exponent = static_cast<float>(2 * i) / static_cast<float>(rotary_width);
    powers[i] = static_cast<float>(std::pow(static_cast<double>(static_cast<float>(base)), exponent));
  }
  return powers;
}

/// Llama 3.1: long wavelengths are stretched by the factor, short ones kept, those between interpolated.
void scale_llama3(Config& config, uint32_t context, std::vector<float>& frequencies) {
  const float factor = static_cast<float>(config.number("factor"));
  const double low = config.number("low_freq_factor");
  const double high = config.number("high_freq_factor");
  const double old_context = config.optional_number("original_max_position_embeddings").value_or(context);
  if (!(factor > 0 && low > 0 && high > low && old_context > 0)) {
    config.refuse("rope scaling llama3 with factor {}, low_freq_factor {}, high_freq_factor {}", factor, low,
                  high);
  }
  for (float& frequency : frequencies) {
    const float wavelength = static_cast<float>(2 * std::numbers::pi) / frequency;
    if (wavelength < static_cast<float>(old_context / high)) continue;
    if (wavelength > static_cast<float>(old_context / low)) {
      frequency = frequency / factor;
      continue;
    }
    const float smooth = (static_cast<float>(old_context) / wavelength - static_cast<float>(low)) /
                         static_cast<float>(high - low);
    frequency = (1.0f - smooth) * frequency / factor + smooth * frequency;
  }
}

/// The attention factor that YaRN's authors suggest for a stretch.
double yarn_mscale(double stretch, double mscale) {
  return stretch <= 1 ? 1.0 : 0.1 * mscale * std::log(stretch) + 1.0;
}

/// YaRN (Peng et al. 2023): the frequencies between two numbers of rotations are interpolated by a ramp.
void scale_yarn(Config& config, const std::vector<float>& powers, double base, uint32_t context,
                RopeSpec& rope) {
  const double old_context = config.optional_number("original_max_position_embeddings").value_or(context);
  if (!(old_context > 0 && base > 1))
    config.refuse("rope scaling yarn with a context of {}, theta {}", old_context, base);
  const double factor = config.optional_number("factor").value_or(context / old_context);
  const double beta_fast = config.optional_number("beta_fast").value_or(32);
  const double beta_slow = config.optional_number("beta_slow").value_or(1);
  if (!(factor > 0 && beta_fast > 0 && beta_slow > 0)) {
    config.refuse("rope scaling yarn with factor {}, beta_fast {}, beta_slow {}", factor, beta_fast,
                  beta_slow);
  }
  const double mscale = config.optional_number("mscale").value_or(0);
  const double mscale_all = config.optional_number("mscale_all_dim").value_or(0);
  const double inferred = mscale != 0 && mscale_all != 0
                              ? yarn_mscale(factor, mscale) / yarn_mscale(factor, mscale_all)
                              : yarn_mscale(factor, 1);
  rope.scale = static_cast<float>(config.optional_number("attention_factor").value_or(inferred));

  const double dim = 2.0 * static_cast<double>(powers.size());
  const auto correction = [&](double rotations) {
    return dim * std::log(old_context / (rotations * 2 * std::numbers::pi)) / (2 * std::log(base));
  };
  double low = correction(beta_fast);
  double high = correction(beta_slow);
  if (config.flag("truncate", true)) {
    low = std::floor(low);
    high = std::ceil(high);
  }
  low = std::max(low, 0.0);
  high = std::min(high, dim - 1);
  if (low == high) high += 0.001;
  for (size_t i = 0; i < powers.size(); ++i) {
    const float ramp = std::clamp(
        (static_cast<float>(i) - static_cast<float>(low)) / static_cast<float>(high - low), 0.0f, 1.0f);
    const float keep = 1.0f - ramp;
    const float stretched = 1.0f / (static_cast<float>(factor) * powers[i]);
    rope.frequencies[i] = stretched * (1.0f - keep) + 1.0f / powers[i] * keep;
  }
}

/// The config's RoPE keys in one object, whatever the spelling.
nlohmann::json rope_keys(Config& config) {
  const nlohmann::json* now = config.value("rope_parameters");
  const nlohmann::json* old = config.value("rope_scaling");
  if (now != nullptr && old != nullptr && *now != *old) {
    config.refuse("rope_parameters and rope_scaling contradict each other");
  }
  nlohmann::json keys = now != nullptr ? *now : old != nullptr ? *old : nlohmann::json::object();
  if (!keys.is_object())
    config.refuse_value(now != nullptr ? "rope_parameters" : "rope_scaling", &keys, "an object");
  if (config.is_null("rope_theta")) config.refuse("rope_theta is null, expected a number");
  if (const nlohmann::json* theta = config.value("rope_theta")) {
    if (keys.contains("rope_theta") && keys["rope_theta"] != *theta) {
      config.refuse("rope_theta is {}, but {} in the rope parameters", theta->dump(),
                    keys["rope_theta"].dump());
    }
    keys["rope_theta"] = *theta;
  }
  if (keys.contains("type") && !keys.contains("rope_type")) keys["rope_type"] = keys["type"];
  keys.erase("type");
  if (config.has("original_max_position_embeddings")) {
    keys["original_max_position_embeddings"] = *config.value("original_max_position_embeddings");
  }
  return keys;
}

}  // namespace

RopeSpec read_rope(Config& config, uint32_t head_dim, uint32_t context, std::span<const float> divisors) {
  const nlohmann::json keys = rope_keys(config);
  Config rope_config = config.inner(keys, "rope_parameters.");
  const std::string type = rope_config.text("rope_type", "default");
  const double base = rope_config.number("rope_theta", 10000.0);
  if (!(base > 0)) config.refuse("rope_theta is {}, expected more than 0", base);
  if (head_dim % 2 != 0) config.refuse("head_dim {} is odd and cannot be rotated", head_dim);

  RopeSpec rope;
  const std::vector<float> powers = wavelength_powers(base, head_dim);
  for (const float power : powers) rope.frequencies.push_back(1.0f / power);
  if (type == "linear") {
    const float factor = static_cast<float>(rope_config.number("factor"));
    if (!(factor > 0)) config.refuse("rope scaling linear with factor {}", factor);
    for (float& frequency : rope.frequencies) frequency /= factor;
  } else if (type == "llama3") {
    scale_llama3(rope_config, context, rope.frequencies);
  } else if (type == "yarn") {
    scale_yarn(rope_config, powers, base, context, rope);
  } else if (type != "default") {
    config.refuse("rope_type \"{}\" is not supported; supported are default, linear, llama3, yarn", type);
  } else {
    rope_config.value("factor");
    rope_config.value("original_max_position_embeddings");
  }
  rope_config.finish();
  if (!divisors.empty() && divisors.size() != rope.frequencies.size()) {
    fail("tensor rope_freqs.weight has {} values, expected {}", divisors.size(), rope.frequencies.size());
  }
  for (size_t i = 0; i < divisors.size(); ++i) rope.frequencies[i] /= divisors[i];
  for (const float frequency : rope.frequencies) {
    if (!std::isfinite(frequency)) config.refuse("the RoPE frequencies are not finite");
  }
  return rope;
}

}  // namespace mote::convert
