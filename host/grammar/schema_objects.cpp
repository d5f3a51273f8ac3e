// SPDX-License-Identifier: Apache-2.0
//
// Objects: declared keys in their order, each with what all parts of the demand say of it, then other keys.
#include <algorithm>

#include "host/base/error.h"
#include "host/grammar/schema_reader.h"

namespace mote::grammar {
namespace {

/// Calls f(pattern, schema, pointer) for each of a part's patternProperties.
template <class F>
void each_pattern(const SchemaPart& part, F f) {
  if (!part.has("patternProperties")) return;
  if (!part.at("patternProperties").is_object())
    refuse_keyword("patternProperties", part.pointer, "it is no object");
  const SchemaPart all = {&part.at("patternProperties"), part.below("patternProperties")};
  for (const auto& [text, schema] : all.schema->items()) f(text, schema, all.below(text));
}

}  // namespace

std::vector<std::string> SchemaReader::names_of(const Demand& flat, std::set<std::string>& required) const {
  std::vector<std::string> names;
  std::set<std::string> known;
  for (const SchemaPart& part : flat) {
    if (!part.has("properties")) continue;
    if (!part.at("properties").is_object()) refuse_keyword("properties", part.pointer, "it is no object");
    for (const auto& [name, schema] : part.at("properties").items()) {
      if (known.insert(name).second) names.push_back(name);
    }
  }
  for (const SchemaPart& part : flat) {
    if (!part.has("required")) continue;
    if (!part.at("required").is_array()) refuse_keyword("required", part.pointer, "it is no list");
    for (const Json& name : part.at("required")) {
      if (!name.is_string()) refuse_keyword("required", part.pointer, "a name that is no text");
      required.insert(name.get<std::string>());
      if (known.insert(name.get<std::string>()).second) names.push_back(name.get<std::string>());
    }
  }
  return names;
}

Demand SchemaReader::demand_of_key(const Demand& flat, const std::string& key) {
  Demand demand;
  for (const SchemaPart& part : flat) {
    bool said = false;
    if (part.has("properties") && part.at("properties").contains(key)) {
      said = true;
      const SchemaPart all = {&part.at("properties"), part.below("properties")};
      demand.push_back({&all.at(key.c_str()), all.below(key)});
    }
    each_pattern(part, [&](const std::string& text, const Json& schema, const std::string& pointer) {
      if (!pattern(text, part.pointer).matches(key)) return;
      said = true;
      demand.push_back({&schema, pointer});
    });
    if (!said && part.has("additionalProperties"))
      demand.push_back({&part.at("additionalProperties"), part.below("additionalProperties")});
  }
  return demand;
}

std::optional<TextDfa> SchemaReader::key_names(const Demand& flat_demand) {
  std::optional<TextDfa> dfa;
  for (const SchemaPart& part : flat_demand) {
    if (!part.has("propertyNames")) continue;
    const SchemaPart names = {&part.at("propertyNames"), part.below("propertyNames")};
    const Demand inside = flat({names});
    if (is_never(inside) || (types_of(inside) & kString) == 0) return texts_dfa({}, allowance_);
    std::vector<Demand> branches;
    if (branches_of(inside, branches))
      refuse_keyword("propertyNames", part.pointer, "branches of it are not kept");
    const std::optional<std::vector<Json>> values = values_of(inside);
    std::optional<TextDfa> own;
    if (values) {
      std::vector<std::string> texts;
      for (const Json& value : *values) {
        if (value.is_string()) texts.push_back(value.get<std::string>());
      }
      own = texts_dfa(texts, allowance_);
    } else {
      own = text_dfa(inside);
      const uint32_t least = largest(inside, "minLength"), most = smallest(inside, "maxLength");
      if (!own && (least != 0 || most != kEndless)) own = length_dfa(least, most, allowance_);
    }
    if (own) dfa = dfa ? both(*dfa, *own, allowance_) : *own;
  }
  return dfa;
}

std::vector<SchemaReader::Region> SchemaReader::regions_of(const Demand& flat,
                                                           const std::vector<std::string>& names) {
  std::map<std::string, std::string> patterns;  // and a place where it stands
  for (const SchemaPart& part : flat) {
    each_pattern(part, [&](const std::string& text, const Json&, const std::string&) {
      patterns.emplace(text, part.pointer);
    });
  }
  std::optional<TextDfa> allowed = key_names(flat);
  if (!names.empty()) {
    const TextDfa others = complement(texts_dfa(names, allowance_));
    allowed = allowed ? both(*allowed, others, allowance_) : others;
  }
  std::vector<Region> regions;
  std::optional<TextDfa> rest = allowed;
  for (auto one = patterns.begin(); one != patterns.end(); ++one) {
    const TextDfa& keys = pattern(one->first, one->second);
    for (auto other = std::next(one); other != patterns.end(); ++other) {
      TextDfa common = both(keys, pattern(other->first, other->second), allowance_);
      if (allowed) common = both(common, *allowed, allowance_);
      if (!is_empty(common))
        refuse_keyword("patternProperties", one->second,
                       "a key can be of " + Json(one->first).dump() + " and of " + Json(other->first).dump());
    }
    Region region = {allowed ? both(keys, *allowed, allowance_) : keys, false, {}};
    const TextDfa outside = complement(keys);
    rest = rest ? both(*rest, outside, allowance_) : outside;
    for (const SchemaPart& part : flat) {
      bool said = false;
      each_pattern(part, [&](const std::string& text, const Json& schema, const std::string& pointer) {
        if (text != one->first) return;
        said = true;
        region.demand.push_back({&schema, pointer});
      });
      if (!said && part.has("additionalProperties"))
        region.demand.push_back({&part.at("additionalProperties"), part.below("additionalProperties")});
    }
    regions.push_back(std::move(region));
  }
  Region other = {rest ? *rest : TextDfa(), !rest, {}};
  for (const SchemaPart& part : flat) {
    if (part.has("additionalProperties"))
      other.demand.push_back({&part.at("additionalProperties"), part.below("additionalProperties")});
  }
  regions.push_back(std::move(other));
  return regions;
}

NodePtr SchemaReader::object_of(const Demand& demand) {
  std::set<std::string> required;
  const std::vector<std::string> names = names_of(demand, required);
  const uint32_t least = largest(demand, "minProperties"), most = smallest(demand, "maxProperties");
  if (least > most) return never();
  const std::optional<TextDfa> allowed_names = key_names(demand);
  std::vector<NodePtr> pairs;
  for (const std::string& name : names) {
    if (allowed_names && !allowed_names->matches(name)) {
      pairs.push_back(never());
      continue;
    }
    const NodePtr key = writer_.literal(name), colon = writer_.colon();
    const NodePtr value = rule_of(demand_of_key(demand, name));
    pairs.push_back(sequence({key, colon, value}));
  }
  std::vector<NodePtr> others;
  for (const Region& region : regions_of(demand, names)) {
    if (is_never(flat(region.demand)) || (!region.any_key && is_empty(region.keys))) continue;
    others.push_back(sequence({region.any_key ? writer_.string(0, kEndless) : writer_.string(region.keys),
                               writer_.colon(), rule_of(region.demand)}));
  }
  const NodePtr other = others.empty() ? nullptr : choice(std::move(others));
  if (other != nullptr && least > required.size() + 1) {
    for (const SchemaPart& part : demand) {
      if (part.has("minProperties"))
        refuse_keyword(
            "minProperties", part.pointer,
            "keys that are not declared may be one key again, so only one of them can be counted on");
    }
  }
  // Places are (keys passed, pairs written), as far as their number matters.
  const bool counts = least > 0 || most != kEndless;
  const auto names_count = static_cast<uint32_t>(names.size());
  const uint32_t last_count = counts ? names_count : 1;
  const auto place = [&](uint32_t key, uint32_t count) {
    return key == 0 && count == 0 ? 0 : 1 + key * (last_count + 1) + count;
  };
  std::vector<Arrow> arrows;
  for (uint32_t key = 0; key < names_count; ++key) {
    const NodePtr behind = sequence({writer_.comma(), pairs[key]});
    for (uint32_t count = 0; count <= std::min(key, last_count); ++count) {
      allowance_.work(64);
      if (!required.contains(names[key]))
        arrows.push_back({place(key, count), place(key + 1, count), nullptr});
      if (count < most)
        arrows.push_back({place(key, count), place(key + 1, std::min(count + 1, last_count)),
                          count == 0 ? pairs[key] : behind});
    }
  }
  const NodePtr next = other == nullptr ? nullptr : sequence({writer_.comma(), other});
  for (uint32_t count = 0; count <= std::min(names_count, last_count); ++count) {
    const uint32_t from = place(names_count, count);
    const uint32_t missing = !counts || least <= count ? 0 : least - count;
    const uint32_t left = most == kEndless ? kEndless : most - std::min(count, most);
    if (missing == 0) arrows.push_back({from, 1, nullptr});
    if (other == nullptr || left == 0) continue;
    if (count > 0) {
      arrows.push_back({from, 1, repeat(next, missing, left)});
    } else {
      const uint32_t more = left == kEndless ? kEndless : left - 1;
      arrows.push_back({from, 1, sequence({other, repeat(next, missing == 0 ? 0 : missing - 1, more)})});
    }
  }
  return writer_.bracketed("{}", graph(std::max(2u, place(names_count, last_count) + 1), std::move(arrows)));
}

}  // namespace mote::grammar
