// SPDX-License-Identifier: Apache-2.0
#include "host/chat/jinja/members.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "host/chat/jinja/arguments.h"
#include "host/chat/jinja/loop.h"
#include "host/chat/jinja/operators.h"
#include "host/chat/jinja/tree.h"
#include "host/chat/jinja/unicode.h"

namespace mote::convert::jinja {
namespace {

bool is_among(std::initializer_list<std::string_view> names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// Attributes that Python's values have.
bool has_attribute(const Value& value, std::string_view name) {
  if (value.is<TextRef>()) {
    return is_among(
        {"capitalize", "casefold",     "center",       "count",   "encode",     "endswith",    "expandtabs",
         "find",       "format",       "format_map",   "index",   "isalnum",    "isalpha",     "isascii",
         "isdecimal",  "isdigit",      "isidentifier", "islower", "isnumeric",  "isprintable", "isspace",
         "istitle",    "isupper",      "join",         "ljust",   "lower",      "lstrip",      "maketrans",
         "partition",  "removeprefix", "removesuffix", "replace", "rfind",      "rindex",      "rjust",
         "rpartition", "rsplit",       "rstrip",       "split",   "splitlines", "startswith",  "strip",
         "swapcase",   "title",        "translate",    "upper",   "zfill"},
        name);
  }
  if (value.is<DictRef>()) return is_among({"copy", "fromkeys", "get", "items", "keys", "values"}, name);
  if (const Sequence* sequence = value.sequence()) {
    if (sequence->kind == SequenceKind::list) return is_among({"copy", "count", "index"}, name);
    if (sequence->kind == SequenceKind::tuple) return is_among({"count", "index"}, name);
    if (sequence->kind == SequenceKind::range) {
      return is_among({"count", "index", "start", "stop", "step"}, name);
    }
    if (sequence->kind == SequenceKind::view) return is_among({"mapping", "isdisjoint"}, name);
    return is_among({"send", "throw", "close", "gi_code", "gi_frame", "gi_running", "gi_yieldfrom"}, name);
  }
  if (value.is<bool>() || value.is<int64_t>()) {
    return is_among({"as_integer_ratio", "bit_count", "bit_length", "conjugate", "denominator", "from_bytes",
                     "imag", "is_integer", "numerator", "real", "to_bytes"},
                    name);
  }
  if (value.is<double>()) {
    return is_among({"as_integer_ratio", "conjugate", "fromhex", "hex", "imag", "is_integer", "real"}, name);
  }
  if (value.is<Macro>()) {
    return is_among({"name", "arguments", "catch_kwargs", "catch_varargs", "caller", "explicit_caller"},
                    name);
  }
  return false;
}

/// Says whether a method would change the value, which templates may not do.
bool changes(const Value& value, std::string_view name) {
  if (value.is<DictRef>()) return is_among({"clear", "pop", "popitem", "setdefault", "update"}, name);
  const Sequence* sequence = value.sequence();
  return sequence != nullptr && sequence->kind == SequenceKind::list &&
         is_among({"append", "clear", "extend", "insert", "pop", "remove", "reverse", "sort"}, name);
}

std::optional<Value> python_attribute(const Value& value, const std::string& name) {
  if (value.is<Undefined>()) refuse_undefined(value);
  if (const auto* space = value.as<Space*>()) {
    const Value* found = (*space)->find(name);
    return found == nullptr ? std::nullopt : std::optional(*found);
  }
  if (name.size() > 4 && name.starts_with("__") && name.ends_with("__")) {
    unsupported("the attribute {} of a value", name);
  }
  if (value.is<LoopRef>()) return loop_attribute(value, name);
  if (changes(value, name)) {
    return undefined(
        fmt::format("access to attribute '{}' of '{}' object is unsafe", name, type_name(value)));
  }
  if (!has_attribute(value, name)) return std::nullopt;
  if (const auto* macro = value.as<Macro>(); macro != nullptr && name == "name") {
    return make_text(macro->node->text);
  }
  if (value.is<Macro>() || is_number(value)) unsupported("the attribute {} of {}", name, type_name(value));
  return Value{std::make_shared<const Function>(Function{name, value, Function::Kind::method})};
}

std::optional<Value> python_item(const Value& value, const Value& key) {
  if (value.is<Undefined>()) refuse_undefined(value);
  if (const Dict* dict = value.dict()) {
    const Sequence* sequence = key.sequence();
    if (key.dict() != nullptr || (sequence != nullptr && sequence->kind == SequenceKind::list))
      return std::nullopt;
    const Value* found = dict->find(key);
    return found == nullptr ? std::nullopt : std::optional(*found);
  }
  if (!key.is<int64_t>() && !key.is<bool>()) return std::nullopt;
  int64_t at = to_int(key, "an index");
  if (const Text* text = value.text()) {
    const std::u32string all = characters(text->bytes);
    const auto size = static_cast<int64_t>(all.size());
    if (at < 0) at += size;
    if (at < 0 || at >= size) return std::nullopt;
    return make_text(from_characters(std::u32string_view(all).substr(static_cast<size_t>(at), 1)),
                     text->markup);
  }
  const Sequence* sequence = value.sequence();
  if (sequence == nullptr || sequence->kind == SequenceKind::view ||
      sequence->kind == SequenceKind::iterator) {
    return std::nullopt;
  }
  const auto size = static_cast<int64_t>(sequence->items.size());
  if (at < 0) at += size;
  if (at < 0 || at >= size) return std::nullopt;
  return sequence->items[static_cast<size_t>(at)];
}

Value missing_member(const Value& value, const std::string& name) {
  if (value.is<None>()) return undefined(fmt::format("'None' has no attribute '{}'", name));
  return undefined(fmt::format("'{} object' has no attribute '{}'", type_name(value), name));
}

Value view(const char* kind, std::vector<Value> items) {
  return make_sequence(std::move(items), SequenceKind::view, kind);
}

Value call_dict_method(const DictRef& dict, const std::string& name, const Arguments& arguments) {
  if (name == "get") {
    if (!arguments.names.empty()) refuse("dict.get takes no keyword arguments");
    const Bound bound("dict.get", arguments, {"key", "default"}, 1);
    require_hashable(bound.at(0));
    const Value* found = dict->find(bound.at(0));
    return found != nullptr ? *found : bound.has(1) ? bound.at(1) : none();
  }
  if (name == "fromkeys") unsupported("the method fromkeys of a dict");
  const Bound bound("dict." + name, arguments, {});
  if (name == "copy") return {dict};
  std::vector<Value> items;
  for (const auto& [key, value] : dict->items) {
    if (name == "keys") items.push_back(key);
    if (name == "values") items.push_back(value);
    if (name == "items") items.push_back(make_sequence({key, value}, SequenceKind::tuple));
  }
  return view(name == "keys"     ? "dict_keys"
              : name == "values" ? "dict_values"
                                 : "dict_items",
              std::move(items));
}

Value call_list_method(const Value& list, const std::string& name, const Arguments& arguments) {
  const std::vector<Value>& items = list.sequence()->items;
  if (name == "count" || name == "index") {
    const Bound bound(name, arguments, {"value"}, 1);
    const auto same = [&](const Value& item) { return equal(item, bound.at(0)); };
    if (name == "count") return make_int(std::count_if(items.begin(), items.end(), same));
    const auto found = std::find_if(items.begin(), items.end(), same);
    if (found == items.end()) refuse("the value is not in the list");
    return make_int(found - items.begin());
  }
  if (name == "copy") return list;
  unsupported("the method {} of a {}", name, type_name(list));
}

}  // namespace

Value get_own_attribute(const Value& value, const std::string& name) {
  const std::optional<Value> found = python_attribute(value, name);
  return found ? *found : missing_member(value, name);
}

Value get_attribute(const Value& value, const std::string& name) {
  if (const std::optional<Value> found = python_attribute(value, name)) return *found;
  if (const std::optional<Value> item = python_item(value, make_text(name))) return *item;
  return missing_member(value, name);
}

Value get_item(const Value& value, const Value& key) {
  if (const std::optional<Value> item = python_item(value, key)) return *item;
  const Text* name = key.text();
  if (name == nullptr) {
    return undefined(fmt::format("'{} object' has no such element", type_name(value)));
  }
  const std::optional<Value> found = python_attribute(value, name->bytes);
  return found ? *found : missing_member(value, name->bytes);
}

Value call_method(const Function& method, const Arguments& arguments) {
  const Value& self = method.self;
  if (self.is<LoopRef>()) return call_loop_method(self, method.name, arguments);
  if (const Text* text = self.text()) return call_text_method(*text, method.name, arguments);
  if (const auto* dict = self.as<DictRef>()) return call_dict_method(*dict, method.name, arguments);
  return call_list_method(self, method.name, arguments);
}

}  // namespace mote::convert::jinja
