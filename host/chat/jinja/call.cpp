// SPDX-License-Identifier: Apache-2.0
//
// The renderer's calls: macros, global functions, methods.
#include <algorithm>

#include "host/chat/jinja/arguments.h"
#include "host/chat/jinja/members.h"
#include "host/chat/jinja/print.h"
#include "host/chat/jinja/renderer.h"

namespace mote::convert::jinja {
namespace {

/// As Jinja's sandbox.
constexpr int64_t kMostOfRange = 100'000;

Value make_range(const Arguments& arguments) {
  const Bound bound("range", arguments, {"start", "stop", "step"}, 1);
  if (!arguments.names.empty()) refuse("range takes no keyword arguments");
  const int64_t begin = bound.has(1) ? bound.whole(0, 0) : 0;
  const int64_t end = bound.has(1) ? bound.whole(1, 0) : bound.whole(0, 0);
  const int64_t step = bound.whole(2, 1);
  if (step == 0) refuse("range() arg 3 must not be zero");
  std::vector<Value> items;
  for (int64_t at = begin; step > 0 ? at < end : at > end;) {
    items.push_back(make_int(at));
    if (static_cast<int64_t>(items.size()) > kMostOfRange) {
      refuse("range too big: the sandbox allows {} values", kMostOfRange);
    }
    if (__builtin_add_overflow(at, step, &at)) break;
  }
  return make_sequence(std::move(items), SequenceKind::range,
                       step == 1 ? fmt::format("range({}, {})", begin, end)
                                 : fmt::format("range({}, {}, {})", begin, end, step));
}

/// Pairs from a dictionary or a list of pairs, then by name.
std::vector<std::pair<Value, Value>> pairs_of(Renderer& renderer, const char* what,
                                              const Arguments& arguments) {
  if (arguments.values.size() > 1) refuse("{} takes at most one value", what);
  std::vector<std::pair<Value, Value>> items;
  if (!arguments.values.empty()) {
    const Value& given = arguments.values[0];
    if (given.dict() != nullptr) {
      items = given.dict()->items;
    } else {
      for (const Value& pair : items_of(given)) {
        const std::vector<Value> parts = items_of(pair);
        if (parts.size() != 2) refuse("{}: expected pairs, got {} values", what, parts.size());
        require_hashable(parts[0]);
        renderer.charge(items.size() / 8);
        put(items, parts[0], parts[1]);
      }
    }
  }
  for (const auto& [name, value] : arguments.names) put(items, make_text(name), value);
  return items;
}

}  // namespace

Value Renderer::make_namespace(const Arguments& arguments) {
  Space& space = spaces_.emplace_back();
  charge(8);
  for (auto& [key, value] : pairs_of(*this, "namespace", arguments)) {
    if (key.text() == nullptr) unsupported("a namespace with a key that is no text");
    if (key.text()->bytes.starts_with("_")) {
      refuse("a namespace cannot store '{}', whose name begins with an underscore", key.text()->bytes);
    }
    space.items.emplace_back(key.text()->bytes, value);
  }
  return {&space};
}

Value Renderer::call_function(const Function& function, const Arguments& arguments) {
  const std::string& name = function.name;
  if (function.kind == Function::Kind::joiner) {
    return std::exchange(function.called, true) ? function.self : make_text("");
  }
  if (function.kind == Function::Kind::method) {
    if (function.self.is<SequenceRef>()) charge_whole(function.self);
    charge_items(function.self);
    for (const Value& value : arguments.values) charge_items(value);
    return call_method(function, arguments);
  }
  if (name == "range") return make_range(arguments);
  if (name == "dict") return make_dict(pairs_of(*this, "dict", arguments));
  if (name == "namespace") return make_namespace(arguments);
  if (name == "joiner") {
    const Bound bound("joiner", arguments, {"sep"});
    return {std::make_shared<const Function>(
        Function{name, bound.has(0) ? bound.at(0) : make_text(", "), Function::Kind::joiner})};
  }
  if (name == "raise_exception") {
    const Bound bound("raise_exception", arguments, {"message"}, 1);
    refuse("the template says: {}", to_text(bound.at(0)));
  }
  if (name == "strftime_now") {
    const Bound bound("strftime_now", arguments, {"format"}, 1);
    return make_text(format_time(bound.text(0), now_));
  }
  unsupported("the function {}", name);
}

Value Renderer::call_macro(const Macro& macro, const Arguments& arguments) {
  const Node& node = *macro.node;
  const FrameRef outer = macro.outer.lock();
  if (!outer) unsupported("calling a macro after the end of the block that defined it");
  const FrameRef frame = enter(node.scopes[0], outer);
  const std::string what = node.text.empty() ? "the call block" : fmt::format("the macro '{}'", node.text);
  const size_t count = node.names.size();
  std::vector<std::pair<Value, Value>> others;
  Value caller = undefined("no caller defined");
  for (size_t i = 0; i < std::min(count, arguments.values.size()); ++i) {
    variable(frame, node.places[i]) = arguments.values[i];
  }
  for (const auto& [name, value] : arguments.names) {
    const auto found = std::find(node.names.begin(), node.names.end(), name);
    const auto index = static_cast<size_t>(found - node.names.begin());
    if (found != node.names.end() && index >= arguments.values.size()) {
      variable(frame, node.places[index]) = value;
    } else if (name == "caller" && node.takes_caller) {
      caller = value;
    } else if (node.takes_kwargs) {
      others.emplace_back(make_text(name), value);
    } else {
      refuse("{} takes no keyword argument '{}'", what, name);
    }
  }
  if (arguments.values.size() > count && !node.takes_varargs) {
    refuse("{} takes not more than {} arguments", what, count);
  }
  if (node.takes_caller) variable(frame, node.places[count]) = caller;
  if (node.takes_kwargs) variable(frame, node.places[count + 1]) = make_dict(std::move(others));
  if (node.takes_varargs) {
    const auto begin =
        arguments.values.begin() + static_cast<std::ptrdiff_t>(std::min(count, arguments.values.size()));
    variable(frame, node.places[count + 2]) =
        make_sequence(std::vector<Value>(begin, arguments.values.end()), SequenceKind::tuple);
  }
  const size_t required = count - node.parts.size();
  for (size_t i = 0; i < count; ++i) {
    Value& parameter = variable(frame, node.places[i]);
    if (!parameter.is_missing()) continue;
    parameter = i < required ? undefined(fmt::format("parameter '{}' was not provided", node.names[i]))
                             : evaluate(*node.parts[i - required], frame);
  }
  Flow flow = Flow::next;
  return make_text(captured(node.body, frame, &flow));
}

Value Renderer::call(const Value& callee, const Arguments& arguments) {
  const Nested nested(*this);
  if (callee.is<Undefined>()) refuse_undefined(callee);
  if (const auto* macro = callee.as<Macro>()) return call_macro(*macro, arguments);
  if (const auto* function = callee.as<FunctionRef>()) return call_function(**function, arguments);
  if (callee.is<LoopRef>()) refuse("the loop must have the 'recursive' marker to be called recursively");
  refuse("'{}' object is not callable", type_name(callee));
}

}  // namespace mote::convert::jinja
