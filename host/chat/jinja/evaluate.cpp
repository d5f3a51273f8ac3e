// SPDX-License-Identifier: Apache-2.0
//
// The renderer's expressions.
#include "host/chat/jinja/filters.h"
#include "host/chat/jinja/members.h"
#include "host/chat/jinja/operators.h"
#include "host/chat/jinja/print.h"
#include "host/chat/jinja/renderer.h"

namespace mote::convert::jinja {

std::vector<Value> Renderer::evaluate_all(const std::vector<NodeRef>& nodes, const FrameRef& frame) {
  std::vector<Value> values;
  for (const NodeRef& node : nodes) values.push_back(evaluate(*node, frame));
  return values;
}

Arguments Renderer::evaluate_arguments(const CallArguments& arguments, const FrameRef& frame) {
  Arguments given{evaluate_all(arguments.values, frame), {}};
  if (arguments.more_values) {
    for (Value& value : items_of(evaluate(*arguments.more_values, frame)))
      given.values.push_back(std::move(value));
  }
  for (const auto& [name, node] : arguments.names) given.names.emplace_back(name, evaluate(*node, frame));
  if (arguments.more_names) {
    const Value more = evaluate(*arguments.more_names, frame);
    if (more.dict() == nullptr) refuse("the argument after ** must be a mapping, not {}", type_name(more));
    for (const auto& [key, value] : more.dict()->items) {
      if (key.text() == nullptr) refuse("keywords must be strings");
      given.names.emplace_back(key.text()->bytes, value);
    }
  }
  return given;
}

Value Renderer::apply_filter(const Node& node, const Value& value, const FrameRef& frame) {
  const Arguments arguments = evaluate_arguments(node.arguments, frame);
  charge_items(value);
  for (const Value& argument : arguments.values) charge_items(argument);
  Value result = call_filter(*this, node.text, value, arguments);
  charge_items(result);
  return result;
}

Value Renderer::evaluate_comparison(const Node& node, const FrameRef& frame) {
  Value left = evaluate(*node.parts[0], frame);
  for (size_t i = 0; i < node.names.size(); ++i) {
    Value right = evaluate(*node.parts[i + 1], frame);
    charge_whole(left);
    charge_whole(right);
    if (!compare(node.names[i], left, right)) return make_bool(false);
    left = std::move(right);
  }
  return make_bool(true);
}

Value Renderer::evaluate_concat(const Node& node, const FrameRef& frame) {
  std::string text;
  for (const NodeRef& part : node.parts) {
    text += to_text(evaluate(*part, frame));
    require_bytes(text.size());
  }
  return make_text(std::move(text));
}

Value Renderer::evaluate_slice(const Node& node, const FrameRef& frame) {
  const Value value = evaluate(*node.parts[0], frame);
  Value bounds[3] = {none(), none(), none()};
  for (size_t i = 0; i < 3; ++i) {
    if (node.parts[i + 1]) bounds[i] = evaluate(*node.parts[i + 1], frame);
  }
  charge_items(value);
  return slice(value, bounds[0], bounds[1], bounds[2]);
}

Value Renderer::evaluate_compound(const Node& node, const FrameRef& frame) {
  switch (node.kind) {
    case NodeKind::list:
      return make_sequence(evaluate_all(node.parts, frame));
    case NodeKind::tuple:
      return make_sequence(evaluate_all(node.parts, frame), SequenceKind::tuple);
    case NodeKind::dict: {
      std::vector<std::pair<Value, Value>> items;
      for (size_t i = 0; i + 1 < node.parts.size(); i += 2) {
        Value key = evaluate(*node.parts[i], frame);
        require_hashable(key);
        charge(items.size() / 8);
        put(items, std::move(key), evaluate(*node.parts[i + 1], frame));
      }
      return make_dict(std::move(items));
    }
    case NodeKind::filter:
      return apply_filter(node, evaluate(*node.parts[0], frame), frame);
    case NodeKind::test: {
      const Value value = evaluate(*node.parts[0], frame);
      const Arguments arguments = evaluate_arguments(node.arguments, frame);
      return make_bool(call_test(*this, node.text, value, arguments));
    }
    case NodeKind::call: {
      const Value callee = evaluate(*node.parts[0], frame);
      return call(callee, evaluate_arguments(node.arguments, frame));
    }
    case NodeKind::arithmetic: {
      const Value left = evaluate(*node.parts[0], frame);
      return arithmetic(node.text, left, evaluate(*node.parts[1], frame));
    }
    case NodeKind::slice:
      return evaluate_slice(node, frame);
    case NodeKind::concat:
      return evaluate_concat(node, frame);
    default:
      return evaluate_comparison(node, frame);
  }
}

Value Renderer::evaluate(const Node& node, const FrameRef& frame) {
  const Nested nested(*this);
  switch (node.kind) {
    case NodeKind::constant:
      return node.value;
    case NodeKind::name: {
      const Value& value = variable(frame, node.place);
      return value.is_missing() ? undefined(fmt::format("'{}' is undefined", node.text)) : value;
    }
    case NodeKind::attribute:
      return get_attribute(evaluate(*node.parts[0], frame), node.text);
    case NodeKind::item: {
      const Value value = evaluate(*node.parts[0], frame);
      const Value key = evaluate(*node.parts[1], frame);
      if (value.is<TextRef>()) charge_items(value);
      return get_item(value, key);
    }
    case NodeKind::not_:
      return make_bool(!truthy(evaluate(*node.parts[0], frame)));
    case NodeKind::sign:
      return sign(node.text, evaluate(*node.parts[0], frame));
    case NodeKind::and_: {
      Value left = evaluate(*node.parts[0], frame);
      return truthy(left) ? evaluate(*node.parts[1], frame) : left;
    }
    case NodeKind::or_: {
      Value left = evaluate(*node.parts[0], frame);
      return truthy(left) ? left : evaluate(*node.parts[1], frame);
    }
    case NodeKind::conditional:
      if (truthy(evaluate(*node.parts[0], frame))) return evaluate(*node.parts[1], frame);
      if (node.parts[2]) return evaluate(*node.parts[2], frame);
      return undefined("the inline if-expression evaluated to false and no else section was defined");
    default: {
      Value result = evaluate_compound(node, frame);
      charge_items(result);
      return result;
    }
  }
}

}  // namespace mote::convert::jinja
