// SPDX-License-Identifier: Apache-2.0
//
// Values out of a JSON file, each of the kind that is expected or an Error with the file, the key, what is
// expected and what is there: "dir/config.json: hidden_size is "x", expected a number". Every reader takes
// its values through here. A key whose value is null counts as missing.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "host/base/error.h"

namespace mote::convert {

class JsonFile {
 public:
  /// `where` is the file's path; `advice` ends each message.
  explicit JsonFile(std::string where, std::string advice = "")
      : where_(std::move(where)), advice_(std::move(advice)) {}

  template <class... Args>
  [[noreturn]] void refuse(fmt::format_string<Args...> format, Args&&... args) const {
    fail("{}: {}{}", where_, fmt::format(format, std::forward<Args>(args)...), advice_);
  }
  /// "key is VALUE, expected ..."; null: "key is missing, expected ...".
  [[noreturn]] void refuse_value(std::string_view key, const nlohmann::json* value,
                                 std::string_view expected) const;

  /// Null where it is missing.
  const nlohmann::json* find(const nlohmann::json& object, std::string_view key) const;

  const nlohmann::json& object(const nlohmann::json& object, std::string_view key) const;
  const nlohmann::json& list(const nlohmann::json& object, std::string_view key) const;
  std::string text(const nlohmann::json& object, std::string_view key) const;
  std::string text(const nlohmann::json& object, std::string_view key, const std::string& otherwise) const;
  bool flag(const nlohmann::json& object, std::string_view key, bool otherwise) const;
  /// A whole number from 0 to `most`.
  std::optional<uint64_t> optional_size(const nlohmann::json& object, std::string_view key,
                                        uint64_t most = UINT64_MAX) const;
  uint64_t size(const nlohmann::json& value, std::string_view key, uint64_t most = UINT64_MAX) const;

 private:
  std::string where_, advice_;
};

}  // namespace mote::convert
