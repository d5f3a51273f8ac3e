// SPDX-License-Identifier: Apache-2.0
//
// The keys of config.json that the original's code reads, by model_type (config_keys.inc).
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace mote::convert {

/// Keys that are read, with the value that each has where it is absent, if that is known.
class OriginalKeys {
 public:
  /// Finds those of a model_type, or of an object in its config: "clip.text_config". Null where transformers
  /// has no such class.
  static const OriginalKeys* find(const std::string& type);

  bool reads(const std::string& key) const { return keys_.count(key) != 0; }
  bool is_default(const std::string& key, const nlohmann::json& value) const;
  /// The value that a key has where it is absent; null where none is known.
  const nlohmann::json* default_of(const std::string& key) const;

  /// The other name that the class of a model_type has for a key of the file; empty: none.
  static std::string_view other_name(std::string_view type, std::string_view key);

 private:
  void add(const char* text);

  std::map<std::string, std::optional<nlohmann::json>> keys_;
};

}  // namespace mote::convert
