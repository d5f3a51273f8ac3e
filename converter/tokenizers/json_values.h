// SPDX-License-Identifier: Apache-2.0
//
// Values out of a tokenizer.json, of the kind that is expected or an Error.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "host/base/bytes.h"
#include "host/base/error.h"
#include "host/base/json_file.h"

namespace mote::convert {

class JsonValues : public JsonFile {
 public:
  explicit JsonValues(const std::string& where)
      : JsonFile(where, " (mote convert --no-tokenizer leaves the text out)") {}

  uint32_t number(const nlohmann::json& object, const char* key, uint32_t otherwise) const {
    return static_cast<uint32_t>(optional_size(object, key, INT32_MAX).value_or(otherwise));
  }
  /// `key` says where the id stands.
  uint32_t token_id(const nlohmann::json& value, std::string_view key) const {
    if (!value.is_number_unsigned() || value.get<uint64_t>() >= kMaxTokens)
      refuse_value(key, &value, "a token id");
    return value.get<uint32_t>();
  }

  /// A component, those of a sequence one by one; none if it is null.
  std::vector<nlohmann::json> parts(const nlohmann::json& object, const char* key, const char* list) const {
    const auto found = object.find(key);
    if (found == object.end() || found->is_null()) return {};
    std::vector<nlohmann::json> result;
    flatten(*found, key, list, result, 0);
    return result;
  }
  void flatten(const nlohmann::json& part, const char* key, const char* list,
               std::vector<nlohmann::json>& result, int depth) const {
    if (!part.is_object() || depth > kMaxDepth) refuse_value(key, &part, "an object");
    if (text(part, "type") != "Sequence") {
      result.push_back(part);
      return;
    }
    for (const nlohmann::json& inner : this->list(part, list)) flatten(inner, list, list, result, depth + 1);
  }

 private:
  static constexpr int kMaxDepth = 32;
  static constexpr uint32_t kMaxTokens = 1u << 20;
};

}  // namespace mote::convert
