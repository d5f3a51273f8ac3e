// SPDX-License-Identifier: Apache-2.0
//
// Builds a JSON value while its text is parsed. The library's own parser with a callback walks over all that
// an object or a list holds so far whenever one of them ends, so a list of n objects takes n^2 steps.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "host/base/bytes.h"
#include "host/base/error.h"

namespace mote::convert {

/// The receiver that the library's parser calls with each part of the text. Objects and lists lie at most
/// `most_depth` deep in each other (1: an object of plain values). Where keys are not `unique`, the last of
/// the same name counts.
template <class Json>
class JsonBuilder {
 public:
  using number_integer_t = typename Json::number_integer_t;
  using number_unsigned_t = typename Json::number_unsigned_t;
  using number_float_t = typename Json::number_float_t;
  using string_t = typename Json::string_t;
  using binary_t = typename Json::binary_t;

  JsonBuilder(const std::string& where, int most_depth, bool unique)
      : where_(where), most_depth_(static_cast<size_t>(most_depth)), unique_(unique) {}

  Json take() { return std::move(root_); }

  bool null() { return put(nullptr); }
  bool boolean(bool value) { return put(value); }
  bool number_integer(number_integer_t value) { return put(value); }
  bool number_unsigned(number_unsigned_t value) { return put(value); }
  bool number_float(number_float_t value, const string_t&) { return put(value); }
  bool string(string_t& value) { return put(std::move(value)); }
  bool binary(binary_t& value) { return put(std::move(value)); }

  bool start_object(size_t) {
    if (kOrdered) keys_.emplace_back();
    return open(Json::object());
  }
  bool start_array(size_t) { return open(Json::array()); }
  bool end_object() {
    if (kOrdered) keys_.pop_back();
    return close();
  }
  bool end_array() { return close(); }

  bool key(string_t& name) {
    auto& object = open_.back()->template get_ref<typename Json::object_t&>();
    bool fresh = false;
    if constexpr (kOrdered) {
      const auto [known, is_new] = keys_.back().emplace(name, object.size());
      if ((fresh = is_new)) object.emplace_back(name, nullptr);
      member_ = &(object.begin() + static_cast<std::ptrdiff_t>(known->second))->second;
    } else {
      const auto [at, is_new] = object.emplace(name, nullptr);
      fresh = is_new;
      member_ = &at->second;
    }
    if (!fresh && unique_) fail("{}: key '{}' occurs twice", where_, shown(name));
    return true;
  }

  template <class Exception>
  bool parse_error(size_t, const std::string&, const Exception& error) {
    throw error;
  }

 private:
  static constexpr bool kOrdered = std::is_same_v<Json, nlohmann::ordered_json>;

  /// The value's place, which stays while it is open.
  template <class Value>
  Json* place(Value&& value) {
    if (open_.empty()) return &(root_ = std::forward<Value>(value));
    if (open_.back()->is_object()) return &(*member_ = std::forward<Value>(value));
    auto& list = open_.back()->template get_ref<typename Json::array_t&>();
    return &list.emplace_back(std::forward<Value>(value));
  }
  template <class Value>
  bool put(Value&& value) {
    place(std::forward<Value>(value));
    return true;
  }
  bool open(Json empty) {
    if (open_.size() >= most_depth_) fail("{}: JSON nested deeper than {}", where_, most_depth_);
    open_.push_back(place(std::move(empty)));
    return true;
  }
  bool close() {
    open_.pop_back();
    return true;
  }

  const std::string& where_;
  size_t most_depth_;
  bool unique_;
  Json root_;
  std::vector<std::unordered_map<std::string, size_t>> keys_;  // of open objects that keep their keys' order
  Json* member_ = nullptr;  // of the object that is open, for the value to come
  std::vector<Json*> open_;
};

/// Throws the library's exceptions besides Error.
template <class Json, class Text>
Json build_json(const Text& text, const std::string& where, int most_depth, bool unique) {
  JsonBuilder<Json> builder(where, most_depth, unique);
  Json::sax_parse(text.begin(), text.end(), &builder);
  return builder.take();
}

}  // namespace mote::convert
