// SPDX-License-Identifier: Apache-2.0
//
// map, and select and reject with their forms for attributes.
#include <map>
#include <optional>

#include "host/chat/jinja/filters.h"
#include "host/chat/jinja/renderer.h"

namespace mote::convert::jinja {
namespace {

/// The name that a filter or test is given by, and the arguments that follow it.
struct Named {
  std::string name;
  Arguments arguments;
};

std::optional<Named> named_after(const Arguments& arguments, size_t index) {
  if (index >= arguments.values.size()) return std::nullopt;
  const Text* name = arguments.values[index].text();
  if (name == nullptr)
    refuse("expected the name of a filter or test, got {}", type_name(arguments.values[index]));
  Named named{name->bytes, {}};
  named.arguments.values.assign(arguments.values.begin() + static_cast<std::ptrdiff_t>(index) + 1,
                                arguments.values.end());
  named.arguments.names = arguments.names;
  return named;
}

Value map_attribute(const Value& value, const Arguments& arguments) {
  const Value* attribute = nullptr;
  const Value* otherwise = nullptr;
  for (const auto& [name, given] : arguments.names) {
    if (name == "attribute") {
      attribute = &given;
    } else if (name == "default") {
      otherwise = &given;
    } else {
      refuse("map: unexpected keyword argument '{}'", name);
    }
  }
  if (attribute == nullptr) refuse("map requires a filter argument");
  std::vector<Value> items;
  for (const Value& item : items_of(value)) items.push_back(follow_path(item, *attribute, otherwise));
  return make_sequence(std::move(items), SequenceKind::iterator);
}

Value map(Renderer& renderer, const Value& value, const Arguments& arguments) {
  if (!truthy(value)) return make_sequence({}, SequenceKind::iterator);
  const std::optional<Named> named = named_after(arguments, 0);
  if (!named) return map_attribute(value, arguments);
  std::vector<Value> items;
  for (const Value& item : items_of(value)) {
    renderer.charge_items(item);
    items.push_back(call_filter(renderer, named->name, item, named->arguments));
    renderer.charge_items(items.back());
  }
  return make_sequence(std::move(items), SequenceKind::iterator);
}

Value select_where(Renderer& renderer, const Value& value, const Arguments& arguments, bool wanted,
                   bool attribute) {
  if (!truthy(value)) return make_sequence({}, SequenceKind::iterator);
  if (attribute && arguments.values.empty()) refuse("missing parameter for attribute name");
  const std::optional<Named> named = named_after(arguments, attribute ? 1 : 0);
  std::vector<Value> items;
  for (const Value& item : items_of(value)) {
    renderer.charge(1);
    const Value looked_at = attribute ? follow_path(item, arguments.values[0], nullptr) : item;
    const bool holds =
        named ? call_test(renderer, named->name, looked_at, named->arguments) : truthy(looked_at);
    if (holds == wanted) items.push_back(item);
  }
  return make_sequence(std::move(items), SequenceKind::iterator);
}

template <bool wanted, bool attribute>
Value selecting(Renderer& renderer, const Value& value, const Arguments& arguments) {
  return select_where(renderer, value, arguments, wanted, attribute);
}

}  // namespace

Filter find_selecting_filter(const std::string& name) {
  static const std::map<std::string, Filter> filters = {
      {"map", map},
      {"select", selecting<true, false>},
      {"reject", selecting<false, false>},
      {"selectattr", selecting<true, true>},
      {"rejectattr", selecting<false, true>},
  };
  const auto found = filters.find(name);
  return found == filters.end() ? nullptr : found->second;
}

}  // namespace mote::convert::jinja
