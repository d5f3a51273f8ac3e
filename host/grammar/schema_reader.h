// SPDX-License-Identifier: Apache-2.0
//
// A schema as rules. What an answer has to fulfil at one place is a set of parts of the document, a Demand:
// the schema there, what it refers to and what allOf adds. Each demand becomes one rule, so that schemas that
// come back to themselves end.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "host/grammar/json_writer.h"

namespace mote::grammar {

/// A schema of the document, and which of its keywords are dealt with elsewhere.
struct SchemaPart {
  enum Done : uint8_t { kAnyOf = 1, kOneOf = 2, kIf = 4, kNot = 8, kRef = 16, kAllOf = 32 };
  const Json* schema;
  std::string pointer;
  uint8_t done = 0;

  bool has(const char* keyword) const { return schema->is_object() && schema->contains(keyword); }
  const Json& at(const char* keyword) const { return (*schema)[keyword]; }
  std::string below(const std::string& key) const;
  friend bool operator<(const SchemaPart& a, const SchemaPart& b) {
    return a.schema != b.schema ? a.schema < b.schema : a.done < b.done;
  }
};

using Demand = std::vector<SchemaPart>;

/// Types of JSON, as bits.
enum JsonType : uint8_t {
  kNull = 1,
  kBoolean = 2,
  kNumber = 4,
  kString = 8,
  kArray = 16,
  kObject = 32,
  kEveryType = 63
};

[[noreturn]] void refuse_keyword(const char* keyword, const std::string& pointer, const std::string& why);

class SchemaReader {
 public:
  SchemaReader(const Json& document, const JsonOptions& options, Allowance& allowance);
  Source read();

 private:
  // schema_reader.cpp
  NodePtr rule_of(Demand demand);
  NodePtr body_of(const Demand& demand);
  NodePtr body_of_types(const Demand& demand);
  NodePtr string_of(const Demand& demand);
  NodePtr number_of(const Demand& demand);
  NodePtr array_of(const Demand& demand);

  // schema_parts.cpp: what a demand is made of
  Demand flat(const Demand& demand);
  void add_flat(const SchemaPart& part, Demand& flat, std::set<const Json*>& path);
  SchemaPart referred(const SchemaPart& part);
  void check_keywords(const SchemaPart& part) const;
  SchemaPart made(Json schema, const std::string& pointer, uint8_t done = 0);
  static uint8_t types_of(const Demand& flat);
  static bool is_integer(const Demand& flat);
  uint32_t bound(const SchemaPart& part, const char* keyword, uint32_t otherwise) const;
  uint32_t largest(const Demand& flat, const char* keyword) const;
  uint32_t smallest(const Demand& flat, const char* keyword) const;
  static bool is_never(const Demand& flat);

  // schema_values.cpp: values that are listed
  std::optional<std::vector<Json>> values_of(const Demand& flat);
  bool is_valid(const Json& value, const SchemaPart& part);
  bool is_valid_string(const std::string& text, const SchemaPart& part);
  bool is_valid_number(const Json& value, const SchemaPart& part) const;
  bool is_valid_array(const Json& value, const SchemaPart& part);
  bool is_valid_object(const Json& value, const SchemaPart& part);

  // schema_objects.cpp
  struct Region {
    TextDfa keys;
    bool any_key;  // no text is excluded
    Demand demand;
  };
  NodePtr object_of(const Demand& demand);
  std::vector<std::string> names_of(const Demand& flat, std::set<std::string>& required) const;
  Demand demand_of_key(const Demand& flat, const std::string& key);
  std::vector<Region> regions_of(const Demand& flat, const std::vector<std::string>& names);
  std::optional<TextDfa> key_names(const Demand& flat);
  const TextDfa& pattern(const std::string& text, const std::string& pointer);

  // schema_strings.cpp
  std::optional<TextDfa> text_dfa(const Demand& flat);
  const TextDfa& format(const std::string& name, const std::string& pointer);
  NumberBounds bounds_of(const Demand& flat);

  // schema_branches.cpp: anyOf, oneOf, if, not
  bool branches_of(const Demand& flat, std::vector<Demand>& branches);
  std::vector<SchemaPart> negated(const SchemaPart& condition, const Demand& context, const char* keyword,
                                  const std::string& pointer);
  bool are_disjoint(const Demand& a, const Demand& b, uint32_t depth);
  bool are_disjoint_flat(const Demand& a, const Demand& b, uint32_t depth);

  const Json& document_;
  Allowance& allowance_;
  JsonWriter writer_;
  Source source_;
  std::map<Demand, uint32_t> rules_;
  std::deque<Json> made_;
  std::map<std::string, const Json*> made_by_text_;
  std::map<std::string, std::pair<const Json*, std::string>> anchors_;
  std::map<std::string, TextDfa> patterns_, formats_;
  uint32_t depth_ = 0;
};

}  // namespace mote::grammar
