// SPDX-License-Identifier: Apache-2.0
#include "host/base/json_file.h"

#include <nlohmann/json.hpp>

#include "host/base/bytes.h"

namespace mote::convert {

using nlohmann::json;

void JsonFile::refuse_value(std::string_view key, const json* value, std::string_view expected) const {
  refuse("{} is {}, expected {}", shown(key), value == nullptr ? "missing" : shown(value->dump()), expected);
}

const json* JsonFile::find(const json& object, std::string_view key) const {
  const auto found = object.find(std::string(key));
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

const json& JsonFile::object(const json& object, std::string_view key) const {
  const json* value = find(object, key);
  if (value == nullptr || !value->is_object()) refuse_value(key, value, "an object");
  return *value;
}

const json& JsonFile::list(const json& object, std::string_view key) const {
  const json* value = find(object, key);
  if (value == nullptr || !value->is_array()) refuse_value(key, value, "a list");
  return *value;
}

std::string JsonFile::text(const json& object, std::string_view key) const {
  const json* value = find(object, key);
  if (value == nullptr || !value->is_string()) refuse_value(key, value, "a text");
  return value->get<std::string>();
}

std::string JsonFile::text(const json& object, std::string_view key, const std::string& otherwise) const {
  return find(object, key) == nullptr ? otherwise : text(object, key);
}

bool JsonFile::flag(const json& object, std::string_view key, bool otherwise) const {
  const json* value = find(object, key);
  if (value == nullptr) return otherwise;
  if (!value->is_boolean()) refuse_value(key, value, "true or false");
  return value->get<bool>();
}

std::optional<uint64_t> JsonFile::optional_size(const json& object, std::string_view key,
                                                uint64_t most) const {
  const json* value = find(object, key);
  if (value == nullptr) return std::nullopt;
  return size(*value, key, most);
}

uint64_t JsonFile::size(const json& value, std::string_view key, uint64_t most) const {
  if (!value.is_number_integer() || value < 0 || value.get<uint64_t>() > most) {
    refuse_value(
        key, &value,
        most == UINT64_MAX ? "a whole number from 0" : fmt::format("a whole number from 0 to {}", most));
  }
  return value.get<uint64_t>();
}

}  // namespace mote::convert
