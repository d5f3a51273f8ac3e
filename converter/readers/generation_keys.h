// SPDX-License-Identifier: Apache-2.0
//
// Values out of a generation_config.json.
#pragma once

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "host/base/json_file.h"

namespace mote::convert {

/// A key that changes what is generated and that mote does not have, with the value that changes nothing.
struct NeutralKey {
  const char* key;
  double neutral;
};

/// The values, which say the name of their file.
class GenerationKeys {
 public:
  GenerationKeys(const nlohmann::json& keys, const std::string& where, uint32_t vocab,
                 const std::vector<std::string>& ignored)
      : keys_(keys), file_(where), vocab_(vocab), ignored_(ignored) {}

  const nlohmann::json* find(const char* key) const {
    const bool harmless = std::find(ignored_.begin(), ignored_.end(), key) != ignored_.end();
    return harmless ? nullptr : file_.find(keys_, key);
  }
  std::optional<uint32_t> size(const char* key, uint32_t most) const {
    const nlohmann::json* value = find(key);
    if (value == nullptr) return std::nullopt;
    return static_cast<uint32_t>(file_.size(*value, key, most));
  }
  std::optional<float> number(const char* key) const {
    const nlohmann::json* value = find(key);
    if (value == nullptr) return std::nullopt;
    if (!value->is_number() || !std::isfinite(value->get<double>()))
      file_.refuse_value(key, value, "a number");
    return value->get<float>();
  }
  int32_t id(const char* key, const nlohmann::json& value) const {
    if (!value.is_number_unsigned() || value.get<uint64_t>() >= vocab_)
      file_.refuse_value(key, &value, "an id of the vocabulary");
    return value.get<int32_t>();
  }
  /// An id or a list of one, -1 where there is none.
  int32_t id(const char* key) const {
    const nlohmann::json* value = find(key);
    if (value == nullptr) return -1;
    if (value->is_array() && value->size() == 1) return id(key, value->front());
    return id(key, *value);
  }
  std::vector<int32_t> ids(const char* key) const {
    std::vector<int32_t> found;
    const nlohmann::json* value = find(key);
    if (value == nullptr) return found;
    if (!value->is_array()) file_.refuse_value(key, value, "a list of ids");
    for (const nlohmann::json& one : *value) found.push_back(id(key, one));
    return found;
  }
  void refuse_unknown(std::span<const NeutralKey> neutral_keys,
                      std::span<const char* const> absent_keys) const {
    for (const NeutralKey& one : neutral_keys) {
      const nlohmann::json* value = find(one.key);
      if (value == nullptr) continue;
      const bool neutral = value->is_boolean() ? value->get<bool>() == (one.neutral != 0)
                                               : value->is_number() && value->get<double>() == one.neutral;
      if (!neutral) refuse_key(one.key, *value);
    }
    for (const char* key : absent_keys) {
      const nlohmann::json* value = find(key);
      if (value != nullptr && !value->empty()) refuse_key(key, *value);
    }
  }
  [[noreturn]] void refuse_key(const char* key, const nlohmann::json& value) const {
    file_.refuse("{} is {}, which mote's search does not have (--ignore-key {} leaves it out)", key,
                 value.dump(), key);
  }
  const JsonFile& file() const { return file_; }

 private:
  const nlohmann::json& keys_;
  JsonFile file_;
  uint32_t vocab_;
  const std::vector<std::string>& ignored_;
};

}  // namespace mote::convert
