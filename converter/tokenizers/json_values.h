// SPDX-License-Identifier: Apache-2.0
//
// Values out of a tokenizer.json, of the kind that is expected or an Error that says what is wrong where.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "converter/error.h"
#include "converter/readers/bytes.h"

namespace mote::convert {

class JsonValues {
 public:
  explicit JsonValues(const std::string& where) : where_(where) {}

  template <class... Args>
  [[noreturn]] void refuse(fmt::format_string<Args...> format, Args&&... args) const {
    fail("{}: {} (mote convert --no-tokenizer leaves the text out)", where_,
         fmt::format(format, std::forward<Args>(args)...));
  }

  std::string text(const nlohmann::json& object, const char* key) const {
    const auto found = object.find(key);
    if (found == object.end() || !found->is_string()) refuse("'{}' is not a string", key);
    return found->get<std::string>();
  }
  bool flag(const nlohmann::json& object, const char* key, bool otherwise) const {
    const auto found = object.find(key);
    if (found == object.end() || found->is_null()) return otherwise;
    if (!found->is_boolean()) refuse("'{}' is not true or false", key);
    return found->get<bool>();
  }
  uint32_t number(const nlohmann::json& object, const char* key, uint32_t otherwise) const {
    const auto found = object.find(key);
    if (found == object.end() || found->is_null()) return otherwise;
    if (!found->is_number_unsigned() || found->get<uint64_t>() > INT32_MAX) refuse("'{}' is no number", key);
    return found->get<uint32_t>();
  }
  uint32_t token_id(const nlohmann::json& value) const {
    if (!value.is_number_unsigned() || value.get<uint64_t>() >= kMaxTokens)
      refuse("'{}' is no token id", value.dump());
    return value.get<uint32_t>();
  }
  const nlohmann::json& member(const nlohmann::json& object, const char* key,
                               nlohmann::json::value_t type) const {
    const auto found = object.find(key);
    if (found == object.end() || found->type() != type) refuse("'{}' is missing or of a wrong kind", key);
    return *found;
  }

  /// A component, those of a sequence one by one; none if it is null.
  std::vector<nlohmann::json> parts(const nlohmann::json& object, const char* key, const char* list) const {
    const auto found = object.find(key);
    if (found == object.end() || found->is_null()) return {};
    std::vector<nlohmann::json> result;
    flatten(*found, list, result, 0);
    return result;
  }
  void flatten(const nlohmann::json& part, const char* list, std::vector<nlohmann::json>& result,
               int depth) const {
    if (!part.is_object() || depth > kMaxDepth) refuse("a component is not an object");
    if (text(part, "type") != "Sequence") {
      result.push_back(part);
      return;
    }
    for (const nlohmann::json& inner : member(part, list, nlohmann::json::value_t::array))
      flatten(inner, list, result, depth + 1);
  }

 private:
  static constexpr int kMaxDepth = 32;
  static constexpr uint32_t kMaxTokens = 1u << 20;

  const std::string& where_;
};

}  // namespace mote::convert
