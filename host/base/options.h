// SPDX-License-Identifier: Apache-2.0
//
// Options of a call: a JSON object of which every key must be read.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

namespace mote::api {

class OptionError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class Options {
 public:
  /// Null and "" are no options. Throws OptionError.
  explicit Options(const char* json);

  /// Says that the option is given.
  bool has(const char* key) const { return object_.contains(key); }

  // Each leaves `into` as it is where the option is not given, and throws OptionError where its value does
  // not fit.
  void read(const char* key, bool& into);
  void read(const char* key, std::string& into);
  void read(const char* key, uint32_t& into, uint32_t least = 0, uint32_t most = UINT32_MAX);
  void read(const char* key, uint64_t& into);
  void read(const char* key, float& into, float least, float most);
  void read(const char* key, double& into, double least, double most);
  /// Reads a text or a list of texts.
  void read(const char* key, std::vector<std::string>& into);
  template <class T, class... Range>
  void read(const char* key, std::optional<T>& into, Range... range) {
    if (!given(key)) return;
    T value{};
    read(key, value, range...);
    into = std::move(value);
  }
  /// Reads a list of numbers that is not empty.
  void read(const char* key, std::vector<double>& into, double least, double most);
  /// Reads a list of whole numbers, which may be empty.
  void read(const char* key, std::vector<int32_t>& into, int32_t least);
  /// Reads a number, or null for none.
  void read_or_null(const char* key, std::optional<double>& into);
  /// Reads one of the words.
  void read_word(const char* key, std::string& into, std::initializer_list<const char*> words);
  void read(const char* key, nlohmann::ordered_json& into);

  /// Throws OptionError for an option that was not read.
  void finish() const;

 private:
  bool given(const char* key);
  const nlohmann::ordered_json* find(const char* key);

  nlohmann::ordered_json object_;
  std::set<std::string> known_;
};

}  // namespace mote::api
