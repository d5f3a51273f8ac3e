// SPDX-License-Identifier: Apache-2.0
#include "host/grammar/schema_reader.h"

#include <algorithm>

#include "host/base/error.h"
#include "host/base/json_text.h"
#include "host/base/work_budget.h"

namespace mote::grammar {
namespace {

constexpr int kSchemaDepth = 256;
constexpr uint32_t kRuleDepth = 400;
constexpr uint32_t kMostRules = 20000;

}  // namespace

SchemaReader::SchemaReader(const Json& document, const JsonOptions& options, Allowance& allowance)
    : document_(document), allowance_(allowance), writer_(options, allowance) {
  // Anchors are sought where schemas may be.
  struct Place {
    const Json* at;
    std::string pointer;
  };
  std::vector<Place> open = {{&document, ""}};
  while (!open.empty()) {
    const Place place = std::move(open.back());
    open.pop_back();
    allowance_.work(64);
    if (place.at->is_object() && place.at->contains("$anchor") && (*place.at)["$anchor"].is_string())
      anchors_.try_emplace((*place.at)["$anchor"].get<std::string>(), place.at, place.pointer);
    if (!place.at->is_structured()) continue;
    for (const auto& [key, inside] : place.at->items()) {
      if (key == "enum" || key == "const" || key == "default" || key == "examples" || !inside.is_structured())
        continue;
      open.push_back({&inside, place.pointer + '/' + key});
    }
  }
}

Source SchemaReader::read() {
  rule_of({{&document_, ""}});
  return std::move(source_);
}

NodePtr SchemaReader::rule_of(Demand demand) {
  std::sort(demand.begin(), demand.end());
  const auto [found, added] = rules_.try_emplace(demand, static_cast<uint32_t>(source_.rules.size()));
  const uint32_t number = found->second;
  if (!added) return rule(number);
  if (source_.rules.size() >= kMostRules) convert::fail("the schema takes more than {} rules", kMostRules);
  const convert::Nesting nesting(depth_, kRuleDepth, "the schema");
  const std::string pointer =
      demand.empty() ? "any value" : "the schema at " + (demand[0].pointer.empty() ? "/" : demand[0].pointer);
  source_.rules.push_back({pointer, nullptr});
  const NodePtr body = body_of(demand);
  source_.rules[number].body = body;
  return rule(number);
}

NodePtr SchemaReader::body_of(const Demand& demand) {
  const Demand parts = flat(demand);
  if (is_never(parts)) return never();
  // Values are tried by the whole schema, branches included.
  const std::optional<std::vector<Json>> values = values_of(parts);
  if (values) {
    std::vector<NodePtr> literals;
    for (const Json& value : *values) literals.push_back(writer_.literal(value));
    return choice(std::move(literals));
  }
  std::vector<Demand> branches;
  if (branches_of(parts, branches)) {
    std::vector<NodePtr> choices;
    for (Demand& branch : branches) choices.push_back(rule_of(std::move(branch)));
    return choice(std::move(choices));
  }
  return body_of_types(parts);
}

NodePtr SchemaReader::body_of_types(const Demand& demand) {
  const uint8_t types = types_of(demand);
  for (const SchemaPart& part : demand) {
    const bool is_text_only = (types & ~kString) == 0;
    if (part.has("$without") && !is_text_only)
      refuse_keyword("not", part.pointer, "only values that are listed can be excluded");
  }
  std::vector<NodePtr> parts;
  if ((types & kNull) != 0) parts.push_back(bytes("null"));
  if ((types & kBoolean) != 0) parts.push_back(choice({bytes("true"), bytes("false")}));
  if ((types & kNumber) != 0) parts.push_back(number_of(demand));
  if ((types & kString) != 0) parts.push_back(string_of(demand));
  if ((types & kArray) != 0) parts.push_back(array_of(demand));
  if ((types & kObject) != 0) parts.push_back(object_of(demand));
  return choice(std::move(parts));
}

NodePtr SchemaReader::array_of(const Demand& demand) {
  const uint32_t least = largest(demand, "minItems"), most = smallest(demand, "maxItems");
  if (least > most) return never();
  uint32_t listed = 0;
  for (const SchemaPart& part : demand) {
    if (part.has("prefixItems") && !part.at("prefixItems").is_array())
      refuse_keyword("prefixItems", part.pointer, "it is no list");
    if (part.has("prefixItems") && part.has("items") && part.at("items").is_array())
      refuse_keyword("items", part.pointer, "a list beside prefixItems");
    for (const char* keyword : {"prefixItems", "items"}) {
      if (part.has(keyword) && part.at(keyword).is_array())
        listed = std::max(listed, static_cast<uint32_t>(part.at(keyword).size()));
    }
  }
  const auto item = [&](uint32_t place) {
    Demand parts;
    for (const SchemaPart& part : demand) {
      const bool draft_7 = part.has("items") && part.at("items").is_array();
      const char* const first = draft_7 ? "items" : "prefixItems";
      const char* const rest = draft_7 ? "additionalItems" : "items";
      if (part.has(first) && place < part.at(first).size()) {
        parts.push_back({&part.at(first)[place], part.below(first) + '/' + std::to_string(place)});
      } else if (part.has(rest)) {
        parts.push_back({&part.at(rest), part.below(rest)});
      }
    }
    return rule_of(std::move(parts));
  };
  listed = std::min(listed, most);
  std::vector<Arrow> arrows;
  const auto place = [](uint32_t items) { return items == 0 ? 0 : items + 1; };
  for (uint32_t i = 0; i < listed; ++i) {
    if (i >= least) arrows.push_back({place(i), 1, nullptr});
    NodePtr one = item(i);
    arrows.push_back(
        {place(i), place(i + 1), i == 0 ? std::move(one) : sequence({writer_.comma(), std::move(one)})});
  }
  const uint32_t left = most == kEndless ? kEndless : most - listed,
                 missing = least > listed ? least - listed : 0;
  if (missing == 0) arrows.push_back({place(listed), 1, nullptr});
  if (left > 0) {
    const NodePtr one = item(listed), next = sequence({writer_.comma(), one});
    if (listed > 0) {
      arrows.push_back({place(listed), 1, repeat(next, missing, left)});
    } else {
      const uint32_t more = left == kEndless ? kEndless : left - 1;
      arrows.push_back({0, 1, sequence({one, repeat(next, missing == 0 ? 0 : missing - 1, more)})});
    }
  }
  return writer_.bracketed("[]", graph(listed + 2, std::move(arrows)));
}

Source json_schema_source(std::string_view text, const JsonOptions& options, Allowance& allowance) {
  const Json document = convert::parse_ordered_json(text, "the schema", kSchemaDepth);
  return SchemaReader(document, options, allowance).read();
}

Source any_json_source(const JsonOptions& options) {
  Allowance allowance({});
  return json_schema_source(R"({"type":["object","array"]})", options, allowance);
}

}  // namespace mote::grammar
