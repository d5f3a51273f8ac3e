// SPDX-License-Identifier: Apache-2.0
//
// Values that a schema lists: those of enum and const that all of a demand allows.
#include <algorithm>
#include <cmath>

#include "host/base/error.h"
#include "host/grammar/schema_reader.h"

namespace mote::grammar {
namespace {

bool equal(const Json& a, const Json& b) {
  if (a.is_number() && b.is_number()) return Decimal::of(a).compare(Decimal::of(b)) == 0;
  if (a.type() != b.type() || a.size() != b.size()) return false;
  if (a.is_array()) return std::equal(a.begin(), a.end(), b.begin(), equal);
  if (!a.is_object()) return a == b;
  for (const auto& [key, value] : a.items()) {
    if (!b.contains(key) || !equal(value, b[key])) return false;
  }
  return true;
}

bool is_listed(const Json& value, const Json& list) {
  return std::any_of(list.begin(), list.end(), [&](const Json& one) { return equal(value, one); });
}

uint8_t type_of(const Json& value) {
  return value.is_null()      ? kNull
         : value.is_boolean() ? kBoolean
         : value.is_number()  ? kNumber
         : value.is_string()  ? kString
         : value.is_array()   ? kArray
                              : kObject;
}

}  // namespace

std::optional<std::vector<Json>> SchemaReader::values_of(const Demand& flat) {
  std::optional<std::vector<Json>> values;
  for (const SchemaPart& part : flat) {
    if (part.has("enum") && !part.at("enum").is_array())
      refuse_keyword("enum", part.pointer, "it is no list");
    if (values) continue;
    if (part.has("const")) {
      values = std::vector<Json>(1, part.at("const"));
    } else if (part.has("enum")) {
      values = std::vector<Json>(part.at("enum").begin(), part.at("enum").end());
    }
  }
  if (!values) return std::nullopt;
  std::vector<Json> kept;
  for (const Json& value : *values) {
    allowance_.work(256);
    const bool valid =
        std::all_of(flat.begin(), flat.end(), [&](const SchemaPart& part) { return is_valid(value, part); });
    if (valid && !is_listed(value, kept)) kept.push_back(value);
  }
  return kept;
}

bool SchemaReader::is_valid(const Json& value, const SchemaPart& part) {
  allowance_.work(256);
  if (part.schema->is_boolean()) return part.schema->get<bool>();
  check_keywords(part);
  const auto below = [&](const char* keyword) { return SchemaPart{&part.at(keyword), part.below(keyword)}; };
  const auto count = [&](const char* keyword) {
    uint32_t valid = 0, i = 0;
    for (const Json& one : part.at(keyword))
      valid += is_valid(value, {&one, part.pointer + '/' + keyword + '/' + std::to_string(i++)});
    return valid;
  };
  if (part.has("$ref") && !is_valid(value, referred(part))) return false;
  if ((types_of({part}) & type_of(value)) == 0) return false;
  if (value.is_number() && is_integer({part}) && !Decimal::of(value).is_integer()) return false;
  if (part.has("const") && !equal(value, part.at("const"))) return false;
  if (part.has("enum") && !is_listed(value, part.at("enum"))) return false;
  if (part.has("$without") && is_listed(value, part.at("$without"))) return false;
  if (part.has("allOf") && count("allOf") != part.at("allOf").size()) return false;
  if (part.has("anyOf") && count("anyOf") == 0) return false;
  if (part.has("oneOf") && count("oneOf") != 1) return false;
  if (part.has("not") && is_valid(value, below("not"))) return false;
  if (part.has("if")) {
    const char* const then = is_valid(value, below("if")) ? "then" : "else";
    if (part.has(then) && !is_valid(value, below(then))) return false;
  }
  if (value.is_string()) return is_valid_string(value.get_ref<const std::string&>(), part);
  if (value.is_number()) return is_valid_number(value, part);
  if (value.is_array()) return is_valid_array(value, part);
  return !value.is_object() || is_valid_object(value, part);
}

bool SchemaReader::is_valid_string(const std::string& text, const SchemaPart& part) {
  const size_t length = code_points_of(text, "a text of the schema").size();
  if (length < bound(part, "minLength", 0) || length > bound(part, "maxLength", kEndless)) return false;
  if (part.has("pattern") && !pattern(part.at("pattern").get<std::string>(), part.pointer).matches(text))
    return false;
  return !part.has("format") || !part.at("format").is_string() ||
         format(part.at("format").get<std::string>(), part.pointer).matches(text);
}

bool SchemaReader::is_valid_number(const Json& value, const SchemaPart& part) const {
  const Decimal number = Decimal::of(value);
  const auto order = [&](const char* keyword) { return number.compare(Decimal::of(part.at(keyword))); };
  if (part.has("minimum") && order("minimum") < 0) return false;
  if (part.has("maximum") && order("maximum") > 0) return false;
  if (part.has("exclusiveMinimum") && order("exclusiveMinimum") <= 0) return false;
  if (part.has("exclusiveMaximum") && order("exclusiveMaximum") >= 0) return false;
  if (!part.has("multipleOf")) return true;
  const double times = value.get<double>() / part.at("multipleOf").get<double>();
  return std::abs(times - std::round(times)) < 1e-9;
}

bool SchemaReader::is_valid_array(const Json& value, const SchemaPart& part) {
  if (value.size() < bound(part, "minItems", 0) || value.size() > bound(part, "maxItems", kEndless))
    return false;
  for (size_t i = 0; i < value.size(); ++i) {
    const bool listed = part.has("items") && part.at("items").is_array();
    const char* const first = listed ? "items" : "prefixItems";
    const char* const rest = listed ? "additionalItems" : "items";
    if (part.has(first) && i < part.at(first).size()) {
      if (!is_valid(value[i], {&part.at(first)[i], part.below(first) + '/' + std::to_string(i)}))
        return false;
    } else if (part.has(rest) && !is_valid(value[i], {&part.at(rest), part.below(rest)})) {
      return false;
    }
  }
  return true;
}

bool SchemaReader::is_valid_object(const Json& value, const SchemaPart& part) {
  if (value.size() < bound(part, "minProperties", 0) || value.size() > bound(part, "maxProperties", kEndless))
    return false;
  if (part.has("required")) {
    for (const Json& name : part.at("required")) {
      if (name.is_string() && !value.contains(name.get<std::string>())) return false;
    }
  }
  for (const auto& [key, item] : value.items()) {
    if (part.has("propertyNames") &&
        !is_valid(Json(key), {&part.at("propertyNames"), part.below("propertyNames")}))
      return false;
    for (const SchemaPart& one : demand_of_key({part}, key)) {
      if (!is_valid(item, one)) return false;
    }
  }
  return true;
}

}  // namespace mote::grammar
