// SPDX-License-Identifier: Apache-2.0
//
// RoPE frequencies (Su et al. 2021) and their scalings for longer contexts, in f32 and in the order of
// operations of transformers' modeling_rope_utils.py, because a rounding here is multiplied by the position.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>

#include "converter/architectures/shared/architecture.h"
#include "host/base/error.h"

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

/// LongRoPE (Ding et al. 2024): a factor for each frequency. The original takes the long ones once a text is
/// longer than the old context, for all positions of what it computes then.
void scale_longrope(Config& config, const std::vector<float>& powers, uint32_t context, RopeSpec& rope) {
  const uint32_t old_context = config.size("original_max_position_embeddings", 2, kMaxSize);
  const char* unused = context > old_context ? "short_factor" : "long_factor";
  const char* used = context > old_context ? "long_factor" : "short_factor";
  config.value(unused);
  const nlohmann::json* factors = config.value(used);
  if (factors == nullptr || !factors->is_array() || factors->size() != powers.size())
    config.refuse_value(used, factors, fmt::format("a list of {} numbers", powers.size()));
  for (size_t i = 0; i < powers.size(); ++i) {
    const nlohmann::json& factor = (*factors)[i];
    if (!factor.is_number() || !(factor.get<double>() > 0))
      config.refuse_value(used, &factor, "a list of numbers above 0");
    rope.frequencies[i] = 1.0f / (factor.get<float>() * powers[i]);
  }
  const double stretch = config.optional_number("factor").value_or(double{1} * context / old_context);
  const double inferred = stretch <= 1 ? 1.0 : std::sqrt(1 + std::log(stretch) / std::log(old_context));
  rope.scale = static_cast<float>(config.optional_number("attention_factor").value_or(inferred));
}

/// The keys in one object, without older spellings. `top` has those that stand outside of it.
nlohmann::json unify(Config& top, nlohmann::json keys, const RopeDefaults& defaults) {
  if (top.is_null(defaults.theta_key)) top.refuse("{} is null, expected a number", defaults.theta_key);
  if (const nlohmann::json* theta = top.value(defaults.theta_key)) {
    if (keys.contains("rope_theta") && keys["rope_theta"] != *theta) {
      top.refuse("{} is {}, but {} in the rope parameters", defaults.theta_key, theta->dump(),
                 keys["rope_theta"].dump());
    }
    keys["rope_theta"] = *theta;
  }
  if (!keys.contains("rope_theta")) keys["rope_theta"] = defaults.theta;
  if (defaults.partial) {
    const nlohmann::json* partial = top.value(defaults.partial_key);
    if (!keys.contains("partial_rotary_factor"))
      keys["partial_rotary_factor"] = partial != nullptr ? *partial : nlohmann::json(*defaults.partial);
  }
  if (keys.contains("type") && !keys.contains("rope_type")) keys["rope_type"] = keys["type"];
  keys.erase("type");
  if (top.has("original_max_position_embeddings"))
    keys["original_max_position_embeddings"] = *top.value("original_max_position_embeddings");
  return keys;
}

/// The value of the key, an object, or an empty one.
nlohmann::json object_of(Config& config, const char* key) {
  const nlohmann::json* value = config.value(key);
  if (value == nullptr) return nlohmann::json::object();
  if (!value->is_object()) config.refuse_value(key, value, "an object");
  return *value;
}

/// Without what stands outside of older configs' objects, and with the newer name of the type.
nlohmann::json plain_scaling(nlohmann::json keys) {
  for (const char* outside : {"rope_theta", "partial_rotary_factor"}) keys.erase(outside);
  if (keys.contains("type") && !keys.contains("rope_type")) keys["rope_type"] = keys["type"];
  keys.erase("type");
  if (keys.contains("rope_type") && keys["rope_type"] == "default") keys.erase("rope_type");
  return keys;
}

/// The config's RoPE keys in one object, whatever the spelling.
nlohmann::json rope_keys(Config& config, const RopeDefaults& defaults) {
  const nlohmann::json now = object_of(config, "rope_parameters"), old = object_of(config, "rope_scaling");
  if (!now.empty() && !old.empty() && plain_scaling(now) != plain_scaling(old))
    config.refuse("rope_parameters and rope_scaling contradict each other");
  return unify(config, now.empty() ? old : now, defaults);
}

/// Columns that turn, of `head_dim`.
uint32_t rotary_width(Config& config, uint32_t head_dim, const std::optional<double>& partial) {
  if (!partial) return head_dim;
  const double share = config.number("partial_rotary_factor");
  const auto width = static_cast<uint32_t>(share > 0 && share <= 1 ? head_dim * share : 0);
  if (width == 0 || width % 2 != 0)
    config.refuse("partial_rotary_factor {} of heads of {} turns {} columns", share, head_dim, width);
  return width;
}

/// Gemma 4's: the frequencies of the whole head, of which those behind the share are 0.
void set_proportional(Config& config, uint32_t head_dim, RopeSpec& rope) {
  const double share = config.number("partial_rotary_factor", 1.0), factor = config.number("factor", 1.0);
  if (!(share > 0 && share <= 1 && factor > 0))
    config.refuse("rope_type proportional with partial_rotary_factor {}, factor {}", share, factor);
  const auto turning = static_cast<size_t>(share * head_dim / 2);
  for (size_t i = 0; i < rope.frequencies.size(); ++i)
    rope.frequencies[i] = i < turning ? rope.frequencies[i] / static_cast<float>(factor) : 0.0f;
}

/// Hunyuan's: theta stretched by a fixed alpha, whatever the length of the text. Others' is stretched for
/// texts longer than max_position_embeddings alone, where the context ends.
double stretched_theta(Config& config, double theta, uint32_t width) {
  const std::optional<double> alpha = config.optional_number("alpha");
  if (!alpha) return theta;
  for (const char* unused : {"factor", "beta_fast", "beta_slow", "mscale", "mscale_all_dim"})
    config.value(unused);
  if (!(*alpha > 0) || width <= 2) config.refuse("rope_type \"dynamic\" with alpha {}", *alpha);
  return theta * std::pow(*alpha, double{1} * width / (width - 2));
}

/// mGTE's: theta times the factor, and all frequencies stretched a little (Su 2023), whatever the length of
/// the text.
void scale_ntk(Config& config, double base, uint32_t width, RopeSpec& rope) {
  const double factor = config.number("factor");
  if (config.has("mixed_b")) config.refuse("rope scaling ntk with mixed_b is not supported");
  if (!(factor > 0)) config.refuse("rope scaling ntk with factor {}", factor);
  const auto stretch = static_cast<float>(std::pow(factor, 2.0 / width));
  const std::vector<float> powers = wavelength_powers(base * factor, width);
  for (size_t i = 0; i < powers.size(); ++i) rope.frequencies[i] = 1.0f / powers[i] / stretch;
}

/// Keys of other types that say what they mean where they are absent.
void know_defaults(Config& config) {
  constexpr std::pair<const char*, double> kDefaults[] = {{"beta_fast", 32}, {"beta_slow", 1},
                                                          {"mscale", 1},     {"mscale_all_dim", 0},
                                                          {"factor", 1},     {"attention_factor", 1}};
  for (const auto& [key, otherwise] : kDefaults) {
    const auto found = config.json().find(key);
    if (found != config.json().end() && found->is_number() && found->get<double>() == otherwise)
      config.value(key);
  }
  const auto truncate = config.json().find("truncate");
  if (truncate != config.json().end() && *truncate == nlohmann::json(true)) config.value("truncate");
}

RopeSpec make_rope(Config& config, const nlohmann::json& keys, const std::string& where, uint32_t head_dim,
                   uint32_t context, const RopeDefaults& defaults) {
  Config rope_config = config.inner(keys, where);
  const std::string type = rope_config.text("rope_type", "default");
  double base = rope_config.number("rope_theta");
  if (!(base > 0)) config.refuse("rope_theta is {}, expected more than 0", base);
  const uint32_t width = rotary_width(rope_config, head_dim, defaults.partial);
  if (width % 2 != 0) config.refuse("head_dim {} is odd and cannot be rotated", head_dim);
  if (type == "dynamic") base = stretched_theta(rope_config, base, width);

  RopeSpec rope{defaults.kind};
  const std::vector<float> powers = wavelength_powers(base, width);
  for (const float power : powers) rope.frequencies.push_back(1.0f / power);
  if (type == "linear") {
    const float factor = static_cast<float>(rope_config.number("factor"));
    if (!(factor > 0)) config.refuse("rope scaling linear with factor {}", factor);
    for (float& frequency : rope.frequencies) frequency /= factor;
  } else if (type == "llama3") {
    scale_llama3(rope_config, context, rope.frequencies);
  } else if (type == "yarn") {
    scale_yarn(rope_config, powers, base, context, rope);
  } else if (type == "longrope" || type == "su") {
    scale_longrope(rope_config, powers, context, rope);
  } else if (type == "proportional") {
    set_proportional(rope_config, head_dim, rope);
  } else if (type == "ntk") {
    scale_ntk(rope_config, base, width, rope);
  } else if (type != "default" && type != "dynamic") {
    config.refuse(
        "rope_type \"{}\" is not supported; supported are default, linear, llama3, yarn, longrope, "
        "proportional",
        type);
  } else {
    rope_config.value("factor");
    rope_config.value("original_max_position_embeddings");
  }
  if (!defaults.partial && type != "proportional" && rope_config.number("partial_rotary_factor", 1.0) != 1.0)
    rope_config.refuse("partial_rotary_factor is {}: this kind of model turns whole heads",
                       keys["partial_rotary_factor"].dump());
  if (defaults.grows) {
    rope.growth = static_cast<float>(rope_config.optional_number("llama_4_scaling_beta").value_or(0.0));
    rope.growth_every = rope_config.size("original_max_position_embeddings", 1, kMaxSize, context);
  }
  know_defaults(rope_config);
  rope_config.rest_is_unread();  // each type's function reads no other keys
  rope_config.finish();
  return rope;
}

void check_finite(const Config& config, const RopeSpec& rope) {
  for (const float frequency : rope.frequencies) {
    if (!std::isfinite(frequency)) config.refuse("the RoPE frequencies are not finite");
  }
}

}  // namespace

RopeSpec read_rope(Config& config, uint32_t head_dim, uint32_t context, std::span<const float> divisors,
                   const RopeDefaults& defaults) {
  const nlohmann::json keys = rope_keys(config, defaults);
  RopeSpec rope = make_rope(config, keys, "rope_parameters.", head_dim, context, defaults);
  if (!divisors.empty() && divisors.size() != rope.frequencies.size()) {
    fail("tensor rope_freqs.weight has {} values, expected {}", divisors.size(), rope.frequencies.size());
  }
  for (size_t i = 0; i < divisors.size(); ++i) rope.frequencies[i] /= divisors[i];
  check_finite(config, rope);
  return rope;
}

KindRopes read_kind_ropes(Config& config, const KindRopeKeys& keys, uint32_t context) {
  const nlohmann::json now = object_of(config, "rope_parameters"), old = object_of(config, "rope_scaling");
  for (const auto& [kind, value] : now.items()) {
    if ((kind != "full_attention" && kind != "sliding_attention") || !(value.is_object() || value.is_null()))
      config.refuse_value("rope_parameters", &now, "objects for full_attention and sliding_attention");
  }
  const auto read = [&](const char* kind, const RopeDefaults& defaults, uint32_t head_dim, bool scales) {
    nlohmann::json own = now.value(kind, nlohmann::json::object());
    if (own.is_null()) own = nlohmann::json::object();
    if (scales) own.update(old);
    const std::string where = std::string("rope_parameters.") + kind + ".";
    const RopeSpec rope =
        make_rope(config, unify(config, std::move(own), defaults), where, head_dim, context, defaults);
    check_finite(config, rope);
    return rope;
  };
  return {read("full_attention", keys.full, keys.full_head_dim, true),
          read("sliding_attention", keys.sliding, keys.sliding_head_dim, keys.scales_sliding)};
}

}  // namespace mote::convert
