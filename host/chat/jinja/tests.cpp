// SPDX-License-Identifier: Apache-2.0
//
// The tests that may stand after `is`.
#include <algorithm>
#include <array>
#include <map>
#include <string_view>

#include "host/chat/jinja/arguments.h"
#include "host/chat/jinja/filters.h"
#include "host/chat/jinja/members.h"
#include "host/chat/jinja/operators.h"
#include "host/chat/jinja/print.h"
#include "host/chat/jinja/renderer.h"

namespace mote::convert::jinja {
namespace {

using Test = bool (*)(const Value&);

bool is_sequence(const Value& value) {
  const Sequence* sequence = value.sequence();
  if (sequence != nullptr) {
    return sequence->kind != SequenceKind::view && sequence->kind != SequenceKind::iterator;
  }
  return value.is<TextRef>() || value.is<DictRef>() || value.is<Undefined>();
}

bool is_callable(const Value& value) {
  return value.is<Undefined>() || value.is<Macro>() || value.is<FunctionRef>() || value.is<LoopRef>();
}

bool text_has(const Value& value, const char* question) {
  return truthy(call_text_method(Text{to_text(value)}, question, {}));
}

bool is_odd(const Value& value) { return equal(arithmetic("%", value, make_int(2)), make_int(1)); }
bool is_even(const Value& value) { return equal(arithmetic("%", value, make_int(2)), make_int(0)); }

bool is_flag(const Value& value, bool wanted) { return value.is<bool>() && *value.as<bool>() == wanted; }

/// Tests without arguments.
const std::map<std::string, Test, std::less<>>& plain_tests() {
  static const std::map<std::string, Test, std::less<>> tests = {
      {"odd", is_odd},
      {"even", is_even},
      {"defined", [](const Value& value) { return !value.is<Undefined>(); }},
      {"undefined", [](const Value& value) { return value.is<Undefined>(); }},
      {"none", [](const Value& value) { return value.is<None>(); }},
      {"boolean", [](const Value& value) { return value.is<bool>(); }},
      {"false", [](const Value& value) { return is_flag(value, false); }},
      {"true", [](const Value& value) { return is_flag(value, true); }},
      {"integer", [](const Value& value) { return value.is<int64_t>(); }},
      {"float", [](const Value& value) { return value.is<double>(); }},
      {"lower", [](const Value& value) { return text_has(value, "islower"); }},
      {"upper", [](const Value& value) { return text_has(value, "isupper"); }},
      {"string", [](const Value& value) { return value.is<TextRef>(); }},
      {"mapping", [](const Value& value) { return value.is<DictRef>(); }},
      {"number", is_number},
      {"sequence", is_sequence},
      {"iterable", is_iterable},
      {"callable", is_callable},
      {"escaped", [](const Value& value) { return value.is_markup(); }},
  };
  return tests;
}

bool is_same(const Value& value, const Value& other) {
  if (value.data.index() != other.data.index()) return false;
  if (value.is<None>() || value.is<bool>()) return equal(value, other);
  if (const auto* dict = value.as<DictRef>()) return *dict == *other.as<DictRef>();
  if (const auto* list = value.as<SequenceRef>()) return *list == *other.as<SequenceRef>();
  if (const auto* space = value.as<Space*>()) return *space == *other.as<Space*>();
  if (const auto* whole = value.as<int64_t>(); whole != nullptr && *whole >= -5 && *whole <= 256) {
    return *whole == *other.as<int64_t>();
  }
  unsupported("the test sameas of two values of {}", type_name(value));
}

/// Names of comparisons; empty where a name is another test's.
std::string comparison_of(std::string_view name) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 16> kNames = {{{"==", "=="},
                                                                                     {"eq", "=="},
                                                                                     {"equalto", "=="},
                                                                                     {"!=", "!="},
                                                                                     {"ne", "!="},
                                                                                     {">", ">"},
                                                                                     {"gt", ">"},
                                                                                     {"greaterthan", ">"},
                                                                                     {">=", ">="},
                                                                                     {"ge", ">="},
                                                                                     {"<", "<"},
                                                                                     {"lt", "<"},
                                                                                     {"lessthan", "<"},
                                                                                     {"<=", "<="},
                                                                                     {"le", "<="},
                                                                                     {"in", "in"}}};
  for (const auto& [key, op] : kNames) {
    if (key == name) return std::string(op);
  }
  return "";
}

bool takes_argument(std::string_view name) {
  return !comparison_of(name).empty() || name == "divisibleby" || name == "sameas" || name == "filter" ||
         name == "test";
}

}  // namespace

void require_test(const std::string& name, uint32_t line) {
  if (plain_tests().count(name) == 0 && !takes_argument(name))
    refuse("line {}: no test named '{}'", line, name);
}

bool call_test(Renderer& renderer, const std::string& name, const Value& value, const Arguments& arguments) {
  const auto plain = plain_tests().find(name);
  if (plain != plain_tests().end()) {
    const Bound bound("the test " + name, arguments, {});
    renderer.charge_items(value);
    return plain->second(value);
  }
  if (!takes_argument(name)) refuse("no test named '{}'", name);
  if (name == "filter" || name == "test") unsupported("the test '{}'", name);
  const Bound bound("the test " + name, arguments, {"other"}, 1);
  if (name == "divisibleby") return equal(arithmetic("%", value, bound.at(0)), make_int(0));
  if (name == "sameas") return is_same(value, bound.at(0));
  renderer.charge_whole(value);
  renderer.charge_whole(bound.at(0));
  return compare(comparison_of(name), value, bound.at(0));
}

}  // namespace mote::convert::jinja
