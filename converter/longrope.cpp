// SPDX-License-Identifier: Apache-2.0
#include "converter/longrope.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "host/base/error.h"

namespace mote::convert {
namespace {

constexpr const char* kContext = "max_position_embeddings";
constexpr const char* kOldContext = "original_max_position_embeddings";

/// The object of that key, if its RoPE is LongRoPE; else null.
nlohmann::json* longrope_at(nlohmann::json& config, const char* key) {
  const auto found = config.find(key);
  if (found == config.end() || !found->is_object()) return nullptr;
  for (const char* type_key : {"rope_type", "type"}) {
    const auto type = found->find(type_key);
    if (type != found->end()) return *type == "longrope" || *type == "su" ? &*found : nullptr;
  }
  return nullptr;
}

/// A whole number above 0, or 0.
uint64_t size_at(const nlohmann::json& config, const char* key) {
  const auto found = config.find(key);
  return found != config.end() && found->is_number_unsigned() ? found->get<uint64_t>() : 0;
}

}  // namespace

std::string choose_longrope(bool long_context, nlohmann::json& config) {
  nlohmann::json *now = longrope_at(config, "rope_parameters"), *old = longrope_at(config, "rope_scaling");
  const nlohmann::json* rope = now != nullptr ? now : old;
  const uint64_t context = size_at(config, kContext);
  uint64_t old_context = size_at(config, kOldContext);
  if (old_context == 0 && rope != nullptr) old_context = size_at(*rope, kOldContext);
  if (rope != nullptr && context == 0) fail("config: LongRoPE without {}", kContext);
  if (rope == nullptr || old_context == 0 || context <= old_context) {
    if (long_context) fail("--long-context: the model has no RoPE whose factors depend on the text's length");
    return "";
  }
  if (long_context) {
    return fmt::format(
        "texts of up to {} tokens have LongRoPE's long factors as longer ones do; the original takes the "
        "short "
        "ones for them",
        old_context);
  }
  // The scale of cosines and sines stays that of the whole context.
  for (nlohmann::json* keys : {now, old}) {
    if (keys != nullptr && (!keys->contains("factor") || (*keys)["factor"].is_null()))
      (*keys)["factor"] = static_cast<double>(context) / static_cast<double>(old_context);
  }
  config[kContext] = old_context;
  return fmt::format(
      "the context is {} of {} tokens, as far as the original takes LongRoPE's short factors; --long-context "
      "takes the long factors and all of the context",
      old_context, context);
}

}  // namespace mote::convert
