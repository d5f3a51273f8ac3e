// SPDX-License-Identifier: Apache-2.0
#include "converter/config_keys.h"

#include <string_view>

namespace mote::convert {
namespace {

struct KeysText {
  std::string_view name;
  const char* keys;  // JSON
};

constexpr KeysText kKeysOfConfigs[] = {
#define SHARED_KEYS(module, keys)
#define CONFIG_KEYS(type, keys) {type, keys},
#include "converter/config_keys.inc"
#undef SHARED_KEYS
#undef CONFIG_KEYS
};

constexpr KeysText kKeysOfModules[] = {
#define SHARED_KEYS(module, keys) {module, keys},
#define CONFIG_KEYS(type, keys)
#include "converter/config_keys.inc"
#undef SHARED_KEYS
#undef CONFIG_KEYS
};

// Loading heeds these, whatever the model's own code reads.
constexpr const char* kKeysOfLoading = R"({"quantization_config":[],"compression_config":[]})";

template <size_t count>
const char* keys_text(const KeysText (&table)[count], std::string_view name) {
  for (const KeysText& one : table) {
    if (one.name == name) return one.keys;
  }
  return nullptr;
}

}  // namespace

void OriginalKeys::add(const char* text) {
  const nlohmann::json keys = nlohmann::json::parse(text);
  for (const auto& [key, defaults] : keys.items()) {
    if (key.empty()) {
      for (const nlohmann::json& module : defaults)
        add(keys_text(kKeysOfModules, module.get<std::string_view>()));
    } else if (!defaults.empty()) {
      keys_[key] = defaults.front();
    } else {
      keys_.emplace(key, std::nullopt);
    }
  }
}

const OriginalKeys* OriginalKeys::find(const std::string& type) {
  static std::map<std::string, OriginalKeys> found;
  const char* text = keys_text(kKeysOfConfigs, type);
  if (text == nullptr) return nullptr;
  const auto [at, is_new] = found.try_emplace(type);
  if (is_new) {
    at->second.add(text);
    at->second.add(kKeysOfLoading);
  }
  return &at->second;
}

bool OriginalKeys::is_default(const std::string& key, const nlohmann::json& value) const {
  const auto found = keys_.find(key);
  return found != keys_.end() && found->second && *found->second == value;
}

}  // namespace mote::convert
