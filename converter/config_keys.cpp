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

/// The attribute maps of config classes, whose both names files may have: "other" of "key".
struct OtherName {
  std::string_view type, key, other;
};
constexpr OtherName kOtherNames[] = {
    {"bloom", "n_head", "num_attention_heads"},
    {"bloom", "n_layer", "num_hidden_layers"},
    {"distilbert", "dim", "hidden_size"},
    {"distilbert", "n_heads", "num_attention_heads"},
    {"distilbert", "n_layers", "num_hidden_layers"},
    {"gpt2", "n_embd", "hidden_size"},
    {"gpt2", "n_head", "num_attention_heads"},
    {"gpt2", "n_layer", "num_hidden_layers"},
    {"gpt2", "n_positions", "max_position_embeddings"},
    {"gpt_neo", "num_heads", "num_attention_heads"},
    {"gpt_neo", "num_layers", "num_hidden_layers"},
    {"gptj", "n_embd", "hidden_size"},
    {"gptj", "n_head", "num_attention_heads"},
    {"gptj", "n_layer", "num_hidden_layers"},
    {"gptj", "n_positions", "max_position_embeddings"},
    {"mpt", "d_model", "hidden_size"},
    {"mpt", "n_heads", "num_attention_heads"},
    {"mpt", "n_layers", "num_hidden_layers"},
    {"openai-gpt", "n_embd", "hidden_size"},
    {"openai-gpt", "n_head", "num_attention_heads"},
    {"openai-gpt", "n_layer", "num_hidden_layers"},
    {"openai-gpt", "n_positions", "max_position_embeddings"},
    {"xglm", "attention_heads", "num_attention_heads"},
    {"xglm", "d_model", "hidden_size"},
    {"xglm", "num_layers", "num_hidden_layers"},
    {"xlnet", "d_model", "hidden_size"},
    {"xlnet", "n_head", "num_attention_heads"},
    {"xlnet", "n_layer", "num_hidden_layers"},
    {"xlnet", "vocab_size", "n_token"},
};

template <size_t count>
const char* keys_text(const KeysText (&table)[count], std::string_view name) {
  for (const KeysText& one : table) {
    if (one.name == name) return one.keys;
  }
  return nullptr;
}

}  // namespace

std::string_view OriginalKeys::other_name(std::string_view type, std::string_view key) {
  for (const OtherName& one : kOtherNames) {
    if (one.type == type && one.key == key) return one.other;
  }
  return {};
}

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
  const nlohmann::json* known = default_of(key);
  return known != nullptr && *known == value;
}

const nlohmann::json* OriginalKeys::default_of(const std::string& key) const {
  const auto found = keys_.find(key);
  return found != keys_.end() && found->second ? &*found->second : nullptr;
}

}  // namespace mote::convert
