// SPDX-License-Identifier: Apache-2.0
//
// Typed access to a model's config.json that remembers what was read, so that a key that nobody understands
// is an error and not a silent guess. Every member throws Error, naming the key.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "host/base/json_file.h"

namespace mote::convert {

class Config {
 public:
  /// `json` must outlive the config. `where`: the file that messages name.
  explicit Config(const nlohmann::json& json, const std::string& where = "config");
  /// An object of the same file; `prefix` ("rope_parameters.") starts its keys in messages.
  Config inner(const nlohmann::json& json, const std::string& prefix) const;

  /// Throws Error "where: ...".
  template <class... Args>
  [[noreturn]] void refuse(fmt::format_string<Args...> format, Args&&... args) const {
    file_.refuse(format, std::forward<Args>(args)...);
  }

  const nlohmann::json& json() const { return json_; }

  /// Says whether the key is there and not null. Reading it is still to be done.
  bool has(const std::string& key) const;
  bool is_null(const std::string& key) const;

  // A fallback is what the original's config class has for a key that is absent. Null is no such key: it is
  // refused, except by the members that return an optional, which have nothing for it.

  /// A whole number from `least` to `most`. Without a fallback the key must be there.
  uint32_t size(const std::string& key, uint32_t least, uint32_t most);
  uint32_t size(const std::string& key, uint32_t least, uint32_t most, uint32_t fallback);
  std::optional<uint32_t> optional_size(const std::string& key, uint32_t least, uint32_t most,
                                        std::optional<uint32_t> fallback = std::nullopt);
  /// A finite number.
  double number(const std::string& key);
  double number(const std::string& key, double fallback);
  std::optional<double> optional_number(const std::string& key);
  bool flag(const std::string& key, bool fallback);
  std::string text(const std::string& key);
  std::string text(const std::string& key, const std::string& fallback);
  std::optional<std::string> optional_text(const std::string& key);
  /// An id below `vocab`; -1 where the key is null, a list or a number out of range (-1 stands for none).
  int32_t token_id(const std::string& key, uint32_t vocab, int64_t fallback = -1);
  /// As token_id(); where the key is absent, what config_keys.inc has for the original's class.
  int32_t token_id_of_class(const std::string& key, uint32_t vocab);
  /// The value as it is, or null.
  const nlohmann::json* value(const std::string& key);
  [[noreturn]] void refuse_value(const std::string& key, const nlohmann::json* value,
                                 const std::string& expected) const {
    file_.refuse_value(prefix_ + key, value, expected);
  }

  /// Marks an inner config of which the original's code, if it is known, reads no key that was not read here.
  void rest_is_unread() { rest_is_unread_ = true; }
  /// From now on no key counts as unread: the file names code that nobody here knows.
  void forget_original() { type_.clear(); }

  /// Keys, with their prefix, that the user says to be harmless.
  void ignore(const std::vector<std::string>& keys);

  /// Sorts the keys that were not read: those that the original's code does not read either, or that are as
  /// if they were absent, change nothing; others are not understood, and check_keys() fails for them.
  void finish() const;
  /// Fails if keys of this config and its inner ones are not understood, and names them all; or if a key that
  /// was said to be harmless is none that is left over. After all finish().
  void check_keys() const;
  /// Keys that the original does not read, in the order of finish(), with their prefix.
  const std::vector<std::string>& unread() const { return findings_->unread; }

 private:
  /// Shared by a config and its inner ones.
  struct Findings {
    std::map<std::string, bool> ignored;  // by the user's word; whether it was met
    std::vector<std::string> unread;
    std::vector<std::pair<std::string, std::string>> unknown;  // with their values
  };

  Config(const nlohmann::json& json, JsonFile file, std::string prefix);
  /// The value of the key, or of the other name that the original's class has for it. Fails where they
  /// differ.
  const nlohmann::json* spelled(const std::string& key) const;
  /// Null values too.
  const nlohmann::json* find(const std::string& key);
  bool is_understood(const std::string& key, const nlohmann::json& value) const;

  const nlohmann::json& json_;
  JsonFile file_;
  std::string prefix_;
  std::string type_;        // OriginalKeys' name, empty where there is none
  std::string outer_type_;  // of the config that this one is inside of
  bool rest_is_unread_ = false;
  std::set<std::string> read_;
  std::shared_ptr<Findings> findings_;
};

}  // namespace mote::convert
