// SPDX-License-Identifier: Apache-2.0
#include "host/chat/jinja/value.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "host/base/work_budget.h"
#include "host/chat/jinja/loop.h"
#include "host/chat/jinja/operators.h"
#include "host/chat/jinja/unicode.h"

namespace mote::convert::jinja {
namespace {

/// Bytes of a new text that count as one step, since it may be kept.
constexpr size_t kHeldStep = 32;

void include(Extent& all, const Value& value) {
  const Extent extent = extent_of(value);
  all.depth = std::max(all.depth, extent.depth);
  all.weight += extent.weight;
  if (all.weight > kMostWeight) unsupported("a list or dictionary of more than {} values", kMostWeight);
}

Extent deeper(Extent extent) {
  if (extent.depth >= kMostDepth) unsupported("nesting lists and dictionaries deeper than {}", kMostDepth);
  return {extent.depth + 1, extent.weight};
}

}  // namespace

const Value* Dict::find(const Value& key) const {
  for (const auto& [name, value] : items) {
    if (equal(name, key)) return &value;
  }
  return nullptr;
}

const Value* Dict::find(std::string_view key) const {
  charge_work(items.size() / 4);
  for (const auto& [name, value] : items) {
    if (const Text* text = name.text(); text != nullptr && text->bytes == key) return &value;
  }
  return nullptr;
}

Value* Space::find(std::string_view name) {
  for (auto& [key, value] : items) {
    if (key == name) return &value;
  }
  return nullptr;
}

Extent extent_of(const Value& value) {
  if (const Text* text = value.text()) return {0, 1 + text->bytes.size() / 32};
  if (const Sequence* sequence = value.sequence()) return sequence->extent;
  if (const Dict* dict = value.dict()) return dict->extent;
  return {};
}

void require_bytes(uint64_t bytes) {
  if (bytes > kMostBytes) unsupported("a text of more than {} bytes", kMostBytes);
}

Value undefined(std::string reason) {
  return {Undefined{std::make_shared<const std::string>(std::move(reason))}};
}
Value none() { return {None{}}; }
Value make_bool(bool value) { return {value}; }
Value make_int(int64_t value) { return {value}; }
Value make_float(double value) { return {value}; }
Value make_text(std::string bytes, bool markup) {
  charge_work(bytes.size() / kHeldStep);
  return {std::make_shared<const Text>(Text{std::move(bytes), markup})};
}

Value make_sequence(std::vector<Value> items, SequenceKind kind, std::string shown) {
  Extent extent;
  charge_work(items.size() / 2);
  for (const Value& item : items) include(extent, item);
  return {
      std::make_shared<const Sequence>(Sequence{kind, std::move(items), deeper(extent), std::move(shown)})};
}

Value make_dict(std::vector<std::pair<Value, Value>> items) {
  Extent extent;
  charge_work(items.size() / 2);
  for (const auto& [key, value] : items) {
    include(extent, key);
    include(extent, value);
  }
  return {std::make_shared<const Dict>(Dict{std::move(items), deeper(extent)})};
}

void put(std::vector<std::pair<Value, Value>>& items, Value key, Value value) {
  for (auto& [name, old] : items) {
    if (equal(name, key)) {
      old = std::move(value);
      return;
    }
  }
  items.emplace_back(std::move(key), std::move(value));
}

namespace {

Value value_of(const nlohmann::ordered_json& json, uint32_t depth) {
  if (depth > kMostDepth) unsupported("JSON nested deeper than {}", kMostDepth);
  using Type = nlohmann::ordered_json::value_t;
  switch (json.type()) {
    case Type::boolean:
      return make_bool(json.get<bool>());
    case Type::number_integer:
      return make_int(json.get<int64_t>());
    case Type::number_unsigned:
      if (json.get<uint64_t>() > INT64_MAX) unsupported("the integer {}, of more than 64 bits,", json.dump());
      return make_int(json.get<int64_t>());
    case Type::number_float:
      return make_float(json.get<double>());
    case Type::string:
      return make_text(json.get<std::string>());
    case Type::array: {
      std::vector<Value> items;
      for (const auto& item : json) items.push_back(value_of(item, depth + 1));
      return make_sequence(std::move(items));
    }
    case Type::object: {
      std::vector<std::pair<Value, Value>> items;
      for (const auto& [key, value] : json.items())
        items.emplace_back(make_text(key), value_of(value, depth + 1));
      return make_dict(std::move(items));
    }
    default:
      return none();
  }
}

}  // namespace

Value from_json(const nlohmann::ordered_json& json) { return value_of(json, 0); }

std::string type_name(const Value& value) {
  struct Names {
    std::string operator()(const Undefined&) const { return "Undefined"; }
    std::string operator()(const None&) const { return "NoneType"; }
    std::string operator()(bool) const { return "bool"; }
    std::string operator()(int64_t) const { return "int"; }
    std::string operator()(double) const { return "float"; }
    std::string operator()(const TextRef& text) const { return text->markup ? "Markup" : "str"; }
    std::string operator()(const SequenceRef& sequence) const {
      switch (sequence->kind) {
        case SequenceKind::list:
          return "list";
        case SequenceKind::tuple:
          return "tuple";
        case SequenceKind::range:
          return "range";
        case SequenceKind::view:
          return sequence->shown;
        case SequenceKind::iterator:
          return "generator";
      }
      return "list";
    }
    std::string operator()(const DictRef&) const { return "dict"; }
    std::string operator()(Space*) const { return "Namespace"; }
    std::string operator()(const Macro&) const { return "Macro"; }
    std::string operator()(const FunctionRef&) const { return "function"; }
    std::string operator()(const LoopRef&) const { return "LoopContext"; }
  };
  return std::visit(Names{}, value.data);
}

bool truthy(const Value& value) {
  if (value.is<Undefined>() || value.is<None>()) return false;
  if (const auto* flag = value.as<bool>()) return *flag;
  if (const auto* number = value.as<int64_t>()) return *number != 0;
  if (const auto* number = value.as<double>()) return *number != 0;
  if (const Text* text = value.text()) return !text->bytes.empty();
  if (const Dict* dict = value.dict()) return !dict->items.empty();
  if (const Sequence* sequence = value.sequence()) {
    return sequence->kind == SequenceKind::iterator || !sequence->items.empty();
  }
  return true;
}

bool is_number(const Value& value) { return value.is<bool>() || value.is<int64_t>() || value.is<double>(); }

void refuse_undefined(const Value& value) {
  const auto& reason = value.as<Undefined>()->reason;
  refuse("{}", reason ? *reason : std::string("a variable is undefined"));
}

int64_t to_int(const Value& value, std::string_view what) {
  if (const auto* flag = value.as<bool>()) return *flag ? 1 : 0;
  if (const auto* number = value.as<int64_t>()) return *number;
  refuse("{} is {}, expected an integer", what, type_name(value));
}

double to_double(const Value& value, std::string_view what) {
  if (const auto* number = value.as<double>()) return *number;
  if (!is_number(value)) refuse("{} is {}, expected a number", what, type_name(value));
  return static_cast<double>(to_int(value, what));
}

void require_hashable(const Value& value) {
  const Sequence* sequence = value.sequence();
  if (value.dict() != nullptr || (sequence != nullptr && sequence->kind == SequenceKind::list)) {
    refuse("unhashable type: '{}'", type_name(value));
  }
  if (sequence != nullptr && sequence->kind == SequenceKind::tuple) {
    for (const Value& item : sequence->items) require_hashable(item);
  }
}

bool is_iterable(const Value& value) {
  return value.is<Undefined>() || value.is<TextRef>() || value.is<SequenceRef>() || value.is<DictRef>() ||
         value.is<LoopRef>();
}

std::vector<Value> items_of(const Value& value) {
  std::vector<Value> items;
  if (value.is<Undefined>()) return items;
  if (const Text* text = value.text()) {
    if (count_characters(text->bytes) > kMostWeight)
      unsupported("a list of more than {} characters", kMostWeight);
    charge_work(text->bytes.size());
    for (size_t at = 0; at < text->bytes.size();) {
      const size_t bytes = character_bytes(text->bytes, at);
      items.push_back(make_text(text->bytes.substr(at, bytes), text->markup));
      at += bytes;
    }
    return items;
  }
  if (const Dict* dict = value.dict()) {
    charge_work(dict->items.size() / 2);
    for (const auto& item : dict->items) items.push_back(item.first);
    return items;
  }
  if (const Sequence* sequence = value.sequence()) {
    charge_work(sequence->items.size() / 2);
    if (sequence->kind != SequenceKind::iterator) return sequence->items;
    items.assign(sequence->items.begin() + static_cast<std::ptrdiff_t>(sequence->taken),
                 sequence->items.end());
    sequence->taken = sequence->items.size();
    return items;
  }
  if (value.is<LoopRef>()) unsupported("walking the variable loop");
  refuse("'{}' object is not iterable", type_name(value));
}

int64_t length_of(const Value& value) {
  if (value.is<Undefined>()) return 0;
  if (const Text* text = value.text()) return static_cast<int64_t>(count_characters(text->bytes));
  if (const Dict* dict = value.dict()) return static_cast<int64_t>(dict->items.size());
  const Sequence* sequence = value.sequence();
  if (sequence != nullptr && sequence->kind != SequenceKind::iterator) {
    return static_cast<int64_t>(sequence->items.size());
  }
  if (const auto* loop = value.as<LoopRef>()) return live(*loop)->length();
  refuse("object of type '{}' has no len()", type_name(value));
}

}  // namespace mote::convert::jinja
