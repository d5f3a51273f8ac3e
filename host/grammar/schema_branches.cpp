// SPDX-License-Identifier: Apache-2.0
//
// anyOf, oneOf, if and not as demands of which one holds.
#include <algorithm>

#include "host/base/error.h"
#include "host/grammar/schema_reader.h"

namespace mote::grammar {
namespace {

constexpr uint32_t kDisjointDepth = 8;
constexpr size_t kMostBranches = 4096;

/// Returns the demand with another part in place of one of its own.
Demand with(const Demand& demand, size_t place, uint8_t done, std::vector<SchemaPart> more) {
  Demand other = demand;
  other[place].done = static_cast<uint8_t>(other[place].done | done);
  other.insert(other.end(), more.begin(), more.end());
  return other;
}

}  // namespace

bool SchemaReader::branches_of(const Demand& flat, std::vector<Demand>& branches) {
  for (size_t i = 0; i < flat.size(); ++i) {
    const SchemaPart& part = flat[i];
    if (!part.schema->is_object()) continue;
    const auto list = [&](const char* keyword, uint8_t done) {
      if (!part.at(keyword).is_array() || part.at(keyword).empty())
        refuse_keyword(keyword, part.pointer, "it is no list of schemas");
      if (part.at(keyword).size() > kMostBranches)
        refuse_keyword(keyword, part.pointer, "more than 4096 branches");
      uint32_t number = 0;
      for (const Json& one : part.at(keyword))
        branches.push_back(
            with(flat, i, done, {{&one, part.pointer + '/' + keyword + '/' + std::to_string(number++)}}));
    };
    if (part.has("anyOf") && (part.done & SchemaPart::kAnyOf) == 0) {
      list("anyOf", SchemaPart::kAnyOf);
      return true;
    }
    if (part.has("oneOf") && (part.done & SchemaPart::kOneOf) == 0) {
      list("oneOf", SchemaPart::kOneOf);
      for (size_t a = 0; a < branches.size(); ++a) {
        for (size_t b = a + 1; b < branches.size(); ++b) {
          if (are_disjoint(branches[a], branches[b], kDisjointDepth)) continue;
          refuse_keyword("oneOf", part.pointer,
                         "branches " + std::to_string(a) + " and " + std::to_string(b) +
                             " may hold at once; with anyOf they may");
        }
      }
      return true;
    }
    if (part.has("if") && (part.done & SchemaPart::kIf) == 0) {
      const SchemaPart condition = {&part.at("if"), part.below("if")};
      std::vector<SchemaPart> holds = {condition};
      if (part.has("then")) holds.push_back({&part.at("then"), part.below("then")});
      if (!part.has("then") && !part.has("else")) {
        branches.push_back(with(flat, i, SchemaPart::kIf, {}));
        return true;
      }
      branches.push_back(with(flat, i, SchemaPart::kIf, std::move(holds)));
      for (const SchemaPart& other : negated(condition, flat, "if", part.pointer)) {
        std::vector<SchemaPart> parts = {other};
        if (part.has("else")) parts.push_back({&part.at("else"), part.below("else")});
        branches.push_back(with(flat, i, SchemaPart::kIf, std::move(parts)));
      }
      return true;
    }
    if (part.has("not") && (part.done & SchemaPart::kNot) == 0) {
      for (const SchemaPart& other : negated({&part.at("not"), part.below("not")}, flat, "not", part.pointer))
        branches.push_back(with(flat, i, SchemaPart::kNot, {other}));
      return true;
    }
  }
  return false;
}

std::vector<SchemaPart> SchemaReader::negated(const SchemaPart& condition, const Demand& context,
                                              const char* keyword, const std::string& pointer) {
  const char* const only = "only values that are listed can be excluded";
  if (condition.schema->is_boolean()) return {made(Json(!condition.schema->get<bool>()), condition.pointer)};
  check_keywords(condition);
  const std::vector<Json> none;
  std::vector<SchemaPart> others;
  Json properties = Json::object();
  std::set<std::string> required;
  for (const auto& [key, value] : condition.schema->items()) {
    if (key == "$ref" && condition.schema->size() == 1)
      return negated(referred(condition), context, keyword, pointer);
    if (key == "type") {
      const uint8_t rest = static_cast<uint8_t>(kEveryType & ~types_of({condition}));
      if (is_integer({condition})) refuse_keyword(keyword, pointer, only);
      Json names = Json::array();
      if ((rest & kNull) != 0) names.push_back("null");
      if ((rest & kBoolean) != 0) names.push_back("boolean");
      if ((rest & kNumber) != 0) names.push_back("number");
      if ((rest & kString) != 0) names.push_back("string");
      if ((rest & kArray) != 0) names.push_back("array");
      if ((rest & kObject) != 0) names.push_back("object");
      const bool says_nothing = (types_of(context) & rest) == 0 && std::string(keyword) == "if";
      if (!says_nothing) others.push_back(made({{"type", names}}, condition.pointer));
    } else if (key == "const" || key == "enum") {
      const bool listed = values_of(context).has_value() || types_of(context) == kString;
      if (!listed) refuse_keyword(keyword, pointer, only);
      others.push_back(
          made({{"$without", key == "const" ? Json::array({value}) : value}}, condition.pointer));
    } else if (key == "not") {
      others.push_back({&value, condition.below("not")});
    } else if (key == "properties") {
      properties = value;
    } else if (key == "required") {
      std::set<std::string> ignored;
      names_of({condition}, required);
    } else {
      static const std::set<std::string> annotations = {"title", "description", "default", "examples",
                                                        "$comment"};
      if (!annotations.contains(key)) refuse_keyword(keyword, pointer, only);
    }
  }
  // An object does not fulfil it where one of the keys has another value, or is missing though it is
  // required.
  for (const auto& [name, schema] : properties.items()) {
    const SchemaPart all = {&condition.at("properties"), condition.below("properties")};
    const Demand own = flat(demand_of_key(context, name));
    for (const SchemaPart& other : negated({&all.at(name.c_str()), all.below(name)}, own, keyword, pointer)) {
      if (other.schema->is_boolean() && !other.schema->get<bool>()) continue;
      others.push_back(made(
          {{"type", "object"}, {"properties", {{name, *other.schema}}}, {"required", Json::array({name})}},
          condition.pointer));
    }
  }
  for (const std::string& name : required)
    others.push_back(made({{"type", "object"}, {"properties", {{name, false}}}}, condition.pointer));
  const bool about_objects = !properties.empty() || !required.empty();
  if (about_objects && types_of(context) != kObject) refuse_keyword(keyword, pointer, only);
  return others;
}

bool SchemaReader::are_disjoint(const Demand& a, const Demand& b, uint32_t depth) {
  if (depth == 0) return false;
  allowance_.work(1024);
  const Demand first = flat(a), second = flat(b);
  if (is_never(first) || is_never(second)) return true;
  std::vector<Demand> branches;
  const auto apart = [&](const Demand& other) {
    return [&, other](const Demand& branch) { return are_disjoint(branch, other, depth - 1); };
  };
  // oneOf inside is only looked at, so it need not be disjoint itself.
  for (const bool of_first : {true, false}) {
    const Demand& one = of_first ? first : second;
    for (size_t i = 0; i < one.size(); ++i) {
      const SchemaPart& part = one[i];
      for (const char* keyword : {"anyOf", "oneOf"}) {
        const uint8_t done = keyword[0] == 'a' ? SchemaPart::kAnyOf : SchemaPart::kOneOf;
        if (!part.has(keyword) || (part.done & done) != 0 || !part.at(keyword).is_array()) continue;
        uint32_t number = 0;
        for (const Json& schema : part.at(keyword))
          branches.push_back(
              with(one, i, done, {{&schema, part.pointer + '/' + keyword + '/' + std::to_string(number++)}}));
        return std::all_of(branches.begin(), branches.end(), apart(of_first ? second : first));
      }
    }
  }
  return are_disjoint_flat(first, second, depth);
}

bool SchemaReader::are_disjoint_flat(const Demand& a, const Demand& b, uint32_t depth) {
  Demand all = a;
  all.insert(all.end(), b.begin(), b.end());
  const std::optional<std::vector<Json>> values = values_of(all);
  if (values) return values->empty();
  const uint8_t common = types_of(a) & types_of(b);
  if ((common & (kNull | kBoolean)) != 0) return false;
  if ((common & kNumber) != 0) {
    const NumberBounds both_bounds = bounds_of(all);
    if (!is_empty(writer_.number_dfa(both_bounds, false)) || !is_empty(writer_.number_dfa(both_bounds, true)))
      return false;
  }
  if ((common & kString) != 0) {
    const uint32_t least = largest(all, "minLength"), most = smallest(all, "maxLength");
    const std::optional<TextDfa> dfa = text_dfa(all);
    if (dfa ? !is_empty(*dfa) : least <= most) return false;
  }
  if ((common & kArray) != 0 && largest(all, "minItems") <= smallest(all, "maxItems")) {
    bool apart = false;
    for (uint32_t i = 0; i < largest(all, "minItems") && i < 16 && !apart; ++i) {
      const auto item = [&](const Demand& demand) {
        Demand parts;
        for (const SchemaPart& part : demand) {
          if (part.has("prefixItems") && i < part.at("prefixItems").size()) {
            parts.push_back(
                {&part.at("prefixItems")[i], part.below("prefixItems") + '/' + std::to_string(i)});
          } else if (part.has("items") && !part.at("items").is_array()) {
            parts.push_back({&part.at("items"), part.below("items")});
          }
        }
        return parts;
      };
      apart = are_disjoint(item(a), item(b), depth - 1);
    }
    if (!apart) return false;
  }
  if ((common & kObject) != 0 && largest(all, "minProperties") <= smallest(all, "maxProperties")) {
    std::set<std::string> of_a, of_b, required;
    names_of(a, of_a);
    names_of(b, of_b);
    required = of_a;
    required.insert(of_b.begin(), of_b.end());
    // A key that one side asks for tells them apart if the values of both sides cannot be equal.
    const bool apart = std::any_of(required.begin(), required.end(), [&](const std::string& name) {
      return are_disjoint(demand_of_key(a, name), demand_of_key(b, name), depth - 1);
    });
    if (!apart) return false;
  }
  return true;
}

}  // namespace mote::grammar
