// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "host/base/error.h"
#include "host/grammar/schema_reader.h"

namespace mote::grammar {
namespace {

const std::set<std::string>& known_keywords() {
  static const std::set<std::string> known = {
      "type", "properties", "required", "additionalProperties", "patternProperties", "propertyNames",
      "minProperties", "maxProperties", "items", "prefixItems", "additionalItems", "minItems", "maxItems",
      "enum", "const", "$ref", "$defs", "definitions", "$anchor", "anyOf", "oneOf", "allOf", "minimum",
      "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength", "pattern",
      "format", "if", "then", "else", "not",
      // read over
      "title", "description", "default", "examples", "example", "$schema", "$comment", "deprecated",
      "readOnly", "writeOnly", "discriminator", "contentEncoding", "contentMediaType", "contentSchema"};
  return known;
}

std::string unescaped_pointer(const std::string& text) {
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size() && isxdigit(static_cast<unsigned char>(text[i + 1])) != 0 &&
        isxdigit(static_cast<unsigned char>(text[i + 2])) != 0) {
      plain.push_back(static_cast<char>(std::stoi(text.substr(i + 1, 2), nullptr, 16)));
      i += 2;
    } else {
      plain.push_back(text[i]);
    }
  }
  return plain;
}

}  // namespace

void refuse_keyword(const char* keyword, const std::string& pointer, const std::string& why) {
  convert::fail("\"{}\" at {}: {}", keyword, pointer.empty() ? "/" : pointer, why);
}

std::string SchemaPart::below(const std::string& key) const {
  std::string text = pointer + '/';
  for (const char c : key) c == '~' ? text += "~0" : c == '/' ? text += "~1" : text += c;
  return text;
}

SchemaPart SchemaReader::made(Json schema, const std::string& pointer, uint8_t done) {
  const Json*& known = made_by_text_[schema.dump()];
  if (known == nullptr) known = &made_.emplace_back(std::move(schema));
  return {known, pointer, done};
}

void SchemaReader::check_keywords(const SchemaPart& part) const {
  if (part.schema->is_boolean()) return;
  if (!part.schema->is_object())
    convert::fail("at {}: a schema is an object, true or false", part.pointer.empty() ? "/" : part.pointer);
  for (const auto& [keyword, value] : part.schema->items()) {
    const bool is_dialect =
        value.is_string() && (value.get_ref<const std::string&>().starts_with("http://json-schema.org/") ||
                              value.get_ref<const std::string&>().starts_with("https://json-schema.org/"));
    if (keyword == "$schema" && !is_dialect)
      refuse_keyword("$schema", part.pointer, "only dialects of json-schema.org are read");
    if (known_keywords().contains(keyword)) continue;
    if (keyword == "$id" && part.schema == &document_) continue;
    if (keyword == "$id") refuse_keyword("$id", part.pointer, "only the document itself may have a name");
    if (keyword == "$without") continue;  // of SchemaReader::negated
    static const std::set<std::string> unread = {
        "uniqueItems",           "contains",         "minContains",    "maxContains",
        "dependentRequired",     "dependentSchemas", "dependencies",   "unevaluatedItems",
        "unevaluatedProperties", "$dynamicRef",      "$dynamicAnchor", "$recursiveRef",
        "$recursiveAnchor",      "$vocabulary"};
    if (keyword == "uniqueItems" && value == false) continue;
    refuse_keyword(keyword.c_str(), part.pointer,
                   unread.contains(keyword) ? "it is not kept" : "an unknown keyword");
  }
}

SchemaPart SchemaReader::referred(const SchemaPart& part) {
  if (!part.at("$ref").is_string()) refuse_keyword("$ref", part.pointer, "it is no text");
  std::string target = part.at("$ref").get<std::string>();
  if (document_.is_object() && document_.contains("$id") && document_["$id"].is_string()) {
    const std::string own = document_["$id"].get<std::string>();
    if (target.starts_with(own)) target.erase(0, own.size());
    if (target.empty()) target = "#";
  }
  if (target.empty() || target[0] != '#')
    refuse_keyword("$ref", part.pointer, "only places inside of the document are read");
  const std::string inside = unescaped_pointer(target.substr(1));
  if (!inside.empty() && inside[0] != '/') {
    const auto anchor = anchors_.find(inside);
    if (anchor == anchors_.end())
      refuse_keyword("$ref", part.pointer, "there is no \"$anchor\" of this name");
    return {anchor->second.first, anchor->second.second};
  }
  const Json* at = &document_;
  for (size_t begin = 1; begin <= inside.size();) {
    const size_t end = std::min(inside.find('/', begin), inside.size());
    std::string key;
    for (size_t i = begin; i < end; ++i) {
      if (inside[i] == '~' && i + 1 < end) {
        key.push_back(inside[++i] == '1' ? '/' : '~');
      } else {
        key.push_back(inside[i]);
      }
    }
    begin = end + 1;
    const bool is_index = at->is_array() && !key.empty() && key.size() < 9 &&
                          std::all_of(key.begin(), key.end(), [](char c) { return c >= '0' && c <= '9'; });
    const Json* next = nullptr;
    if (at->is_object() && at->contains(key)) next = &(*at)[key];
    if (is_index && std::stoul(key) < at->size()) next = &(*at)[std::stoul(key)];
    if (next == nullptr) refuse_keyword("$ref", part.pointer, "there is nothing at " + target);
    at = next;
  }
  return {at, inside};
}

void SchemaReader::add_flat(const SchemaPart& part, Demand& flat, std::set<const Json*>& path) {
  allowance_.work(256);
  check_keywords(part);
  if (part.schema->is_boolean()) {
    if (!part.schema->get<bool>()) flat.push_back(part);
    return;
  }
  if (path.contains(part.schema))
    convert::fail("\"$ref\" at {}: it comes back to itself and says nothing on the way",
                  part.pointer.empty() ? "/" : part.pointer);
  for (const SchemaPart& known : flat) {
    if (known.schema == part.schema && (known.done | part.done) == known.done) return;
  }
  path.insert(part.schema);
  if (part.has("$ref") && (part.done & SchemaPart::kRef) == 0) add_flat(referred(part), flat, path);
  if (part.has("allOf") && (part.done & SchemaPart::kAllOf) == 0) {
    if (!part.at("allOf").is_array()) refuse_keyword("allOf", part.pointer, "it is no list");
    size_t i = 0;
    for (const Json& one : part.at("allOf")) {
      const std::string pointer = part.pointer + "/allOf/" + std::to_string(i++);
      add_flat({&one, pointer}, flat, path);
    }
  }
  path.erase(part.schema);
  if (part.schema->empty()) return;
  flat.push_back(part);
  flat.back().done = static_cast<uint8_t>(part.done | SchemaPart::kRef | SchemaPart::kAllOf);
}

Demand SchemaReader::flat(const Demand& demand) {
  Demand all;
  for (const SchemaPart& part : demand) {
    std::set<const Json*> path;
    add_flat(part, all, path);
  }
  return all;
}

bool SchemaReader::is_never(const Demand& flat) {
  return std::any_of(flat.begin(), flat.end(),
                     [](const SchemaPart& part) { return part.schema->is_boolean(); });
}

uint8_t SchemaReader::types_of(const Demand& flat) {
  uint8_t all = kEveryType;
  for (const SchemaPart& part : flat) {
    if (!part.has("type")) continue;
    static const std::map<std::string, uint8_t> names = {
        {"null", kNull},     {"boolean", kBoolean}, {"number", kNumber}, {"integer", kNumber},
        {"string", kString}, {"array", kArray},     {"object", kObject}};
    const Json& type = part.at("type");
    const Json list = type.is_array() ? type : Json::array({type});
    uint8_t types = 0;
    for (const Json& one : list) {
      const auto known = one.is_string() ? names.find(one.get<std::string>()) : names.end();
      if (known == names.end()) refuse_keyword("type", part.pointer, "there is no type " + one.dump());
      types = static_cast<uint8_t>(types | known->second);
    }
    all = static_cast<uint8_t>(all & types);
  }
  return all;
}

bool SchemaReader::is_integer(const Demand& flat) {
  for (const SchemaPart& part : flat) {
    if (!part.has("type")) continue;
    const Json& type = part.at("type");
    const Json list = type.is_array() ? type : Json::array({type});
    bool integer = false, number = false;
    for (const Json& one : list) {
      integer = integer || one == "integer";
      number = number || one == "number";
    }
    if (integer && !number) return true;
  }
  return false;
}

uint32_t SchemaReader::bound(const SchemaPart& part, const char* keyword, uint32_t otherwise) const {
  if (!part.has(keyword)) return otherwise;
  const Json& value = part.at(keyword);
  const double number = value.is_number() ? value.get<double>() : -1;
  if (number < 0 || number != static_cast<double>(static_cast<uint64_t>(std::min(number, 4e9))))
    refuse_keyword(keyword, part.pointer, "it is no whole number from 0 to 4000000000");
  return static_cast<uint32_t>(number);
}

uint32_t SchemaReader::largest(const Demand& flat, const char* keyword) const {
  uint32_t largest = 0;
  for (const SchemaPart& part : flat) largest = std::max(largest, bound(part, keyword, 0));
  return largest;
}

uint32_t SchemaReader::smallest(const Demand& flat, const char* keyword) const {
  uint32_t smallest = kEndless;
  for (const SchemaPart& part : flat) smallest = std::min(smallest, bound(part, keyword, kEndless));
  return smallest;
}

}  // namespace mote::grammar
