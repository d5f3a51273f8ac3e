// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "host/chat/jinja/parser.h"

namespace mote::convert::jinja {
NodeRef ExpressionParser::expression(bool conditional) {
  const Nested nested(*this);
  NodeRef node = or_expression();
  while (conditional && skip_name("if")) {
    NodeRef test = or_expression();
    NodeRef otherwise;
    if (skip_name("else")) otherwise = expression();
    node = make_of(NodeKind::conditional, "", std::move(test), std::move(node), std::move(otherwise));
  }
  return node;
}

bool ExpressionParser::is_one_of(Ends operators) const {
  return std::any_of(operators.begin(), operators.end(),
                     [&](std::string_view text) { return is_op(text) || is_name(text); });
}

NodeRef ExpressionParser::left_to_right(NodeKind kind, Ends operators, Operand operand) {
  NodeRef left = (this->*operand)();
  while (is_one_of(operators)) {
    std::string op = take().text;
    NodeRef right = (this->*operand)();
    left =
        make_of(kind, kind == NodeKind::arithmetic ? std::move(op) : "", std::move(left), std::move(right));
  }
  return left;
}

NodeRef ExpressionParser::or_expression() {
  return left_to_right(NodeKind::or_, {"or"}, &ExpressionParser::and_expression);
}

NodeRef ExpressionParser::and_expression() {
  return left_to_right(NodeKind::and_, {"and"}, &ExpressionParser::not_expression);
}

NodeRef ExpressionParser::not_expression() {
  const Nested nested(*this);
  if (skip_name("not")) return make_of(NodeKind::not_, "", not_expression());
  return comparison();
}

NodeRef ExpressionParser::comparison() {
  NodeRef node = make(NodeKind::compare);
  node->parts.push_back(sum());
  for (;;) {
    if (is_one_of({"==", "!=", "<", "<=", ">", ">=", "in"})) {
      node->names.push_back(take().text);
    } else if (is_name("not") && next_token().kind == TokenKind::name && next_token().text == "in") {
      take();
      take();
      node->names.push_back("not in");
    } else {
      break;
    }
    node->parts.push_back(sum());
  }
  if (node->names.empty()) return std::move(node->parts.front());
  return sealed(std::move(node));
}

NodeRef ExpressionParser::sum() {
  return left_to_right(NodeKind::arithmetic, {"+", "-"}, &ExpressionParser::concatenation);
}

NodeRef ExpressionParser::concatenation() {
  NodeRef node = make(NodeKind::concat);
  do {
    node->parts.push_back(product());
  } while (skip_op("~"));
  if (node->parts.size() == 1) return std::move(node->parts.front());
  return sealed(std::move(node));
}

NodeRef ExpressionParser::product() {
  return left_to_right(NodeKind::arithmetic, {"*", "/", "//", "%"}, &ExpressionParser::power);
}

NodeRef ExpressionParser::power() {
  return left_to_right(NodeKind::arithmetic, {"**"}, &ExpressionParser::filtered_unary);
}

NodeRef ExpressionParser::unary(bool with_filter) {
  const Nested nested(*this);
  NodeRef node;
  if (is_op("-") || is_op("+")) {
    const std::string op = take().text;
    node = make_of(NodeKind::sign, op, unary(false));
  } else {
    node = primary();
  }
  node = postfix(std::move(node));
  return with_filter ? postfix(std::move(node), true) : std::move(node);
}

NodeRef ExpressionParser::primary(bool member) {
  NodeRef node = make(NodeKind::constant);
  if (current().kind == TokenKind::name) {
    const std::string name = take().text;
    if (name == "true" || name == "True" || name == "false" || name == "False") {
      node->value = make_bool(name == "true" || name == "True");
    } else if (name == "none" || name == "None") {
      node->value = none();
    } else if (member && skip_op(".")) {
      node->kind = NodeKind::space_member;
      node->text = name;
      node->names.push_back(expect_any_name());
    } else {
      node->kind = NodeKind::name;
      node->text = name;
    }
    return node;
  }
  if (current().kind == TokenKind::text) {
    std::string text;
    while (current().kind == TokenKind::text) text += take().text;
    node->value = make_text(std::move(text));
    return node;
  }
  if (current().kind == TokenKind::number) {
    node->value = take().value;
    return node;
  }
  if (skip_op("(")) {
    node = tuple(true, true);
    expect_op(")");
    return node;
  }
  if (is_op("[")) return bracketed(NodeKind::list, "[", "]");
  if (is_op("{")) return bracketed(NodeKind::dict, "{", "}");
  syntax(fmt::format("unexpected '{}'", current().text));
}

bool ExpressionParser::at_tuple_end(Ends ends) const {
  return current().kind == TokenKind::variable_end || current().kind == TokenKind::block_end || is_op(")") ||
         std::any_of(ends.begin(), ends.end(), [&](std::string_view name) { return is_name(name); });
}

template <class Part>
NodeRef ExpressionParser::parts_until(Ends ends, bool& several, const Part& part) {
  NodeRef node = make(NodeKind::tuple);
  while (!at_tuple_end(ends)) {
    node->parts.push_back(part());
    if (!is_op(",")) break;
    several = true;
    take();
  }
  return node;
}

NodeRef ExpressionParser::tuple(bool conditional, bool parentheses, Ends ends) {
  bool several = false;
  NodeRef node = parts_until(ends, several, [&] { return expression(conditional); });
  if (!several && !node->parts.empty()) return std::move(node->parts.front());
  if (!several && !parentheses) syntax(fmt::format("expected an expression, got '{}'", current().text));
  return sealed(std::move(node));
}

NodeRef ExpressionParser::bracketed(NodeKind kind, std::string_view first, std::string_view last) {
  NodeRef node = make(kind);
  expect_op(first);
  while (!is_op(last)) {
    if (!node->parts.empty()) expect_op(",");
    if (is_op(last)) break;
    node->parts.push_back(expression());
    if (kind != NodeKind::dict) continue;
    expect_op(":");
    node->parts.push_back(expression());
  }
  expect_op(last);
  return sealed(std::move(node));
}

NodeRef ExpressionParser::postfix(NodeRef node, bool filters) {
  for (;;) {
    if (is_op("(")) {
      node = call(std::move(node));
    } else if (!filters && (is_op(".") || is_op("["))) {
      node = subscript(std::move(node));
    } else if (filters && is_op("|")) {
      node = filter(std::move(node));
    } else if (filters && is_name("is")) {
      node = test(std::move(node));
    } else {
      return node;
    }
  }
}

NodeRef ExpressionParser::subscript(NodeRef node) {
  if (skip_op(".")) {
    if (current().kind == TokenKind::name) return make_of(NodeKind::attribute, take().text, std::move(node));
    const auto* whole = current().value.as<int64_t>();
    if (current().kind != TokenKind::number || whole == nullptr) syntax("expected a name or a number");
    NodeRef index = make(NodeKind::constant);
    index->value = take().value;
    return make_of(NodeKind::item, "", std::move(node), std::move(index));
  }
  expect_op("[");
  NodeRef result = subscribed(std::move(node));
  if (is_op(",")) unknown("an index of several values");
  expect_op("]");
  return result;
}

NodeRef ExpressionParser::subscribed(NodeRef node) {
  NodeRef bounds[3];
  if (is_op("]")) syntax("expected an index");
  if (!is_op(":")) bounds[0] = expression();
  if (!skip_op(":")) return make_of(NodeKind::item, "", std::move(node), std::move(bounds[0]));
  if (!is_op(":") && !is_op("]") && !is_op(",")) bounds[1] = expression();
  if (skip_op(":") && !is_op("]") && !is_op(",")) bounds[2] = expression();
  return make_of(NodeKind::slice, "", std::move(node), std::move(bounds[0]), std::move(bounds[1]),
                 std::move(bounds[2]));
}

void ExpressionParser::call_arguments(CallArguments& arguments) {
  const Nested nested(*this);
  expect_op("(");
  bool first = true;
  while (!is_op(")")) {
    if (!first) expect_op(",");
    if (is_op(")")) break;
    first = false;
    if (arguments.more_names) syntax("an argument after **");
    if (skip_op("**")) {
      arguments.more_names = expression();
    } else if (skip_op("*")) {
      if (arguments.more_values) syntax("a second * among arguments");
      arguments.more_values = expression();
    } else if (current().kind == TokenKind::name && next_token().kind == TokenKind::op &&
               next_token().text == "=") {
      std::string name = take().text;
      take();
      for (const auto& given : arguments.names) {
        if (given.first == name) syntax(fmt::format("the argument '{}' is given twice", name));
      }
      arguments.names.emplace_back(std::move(name), expression());
    } else {
      if (arguments.more_values || !arguments.names.empty()) syntax("a value after named arguments");
      arguments.values.push_back(expression());
    }
  }
  expect_op(")");
}

NodeRef ExpressionParser::call(NodeRef callee) {
  NodeRef node = make(NodeKind::call);
  node->parts.push_back(std::move(callee));
  call_arguments(node->arguments);
  return sealed(std::move(node));
}

NodeRef ExpressionParser::filter(NodeRef value, bool started) {
  while (started || skip_op("|")) {
    started = false;
    NodeRef node = make(NodeKind::filter, expect_any_name());
    while (skip_op(".")) node->text.append(".").append(expect_any_name());
    node->parts.push_back(std::move(value));
    if (is_op("(")) call_arguments(node->arguments);
    value = sealed(std::move(node));
  }
  return value;
}

NodeRef ExpressionParser::test(NodeRef value) {
  expect_name("is");
  const bool negated = skip_name("not");
  NodeRef node = make(NodeKind::test, expect_any_name());
  while (skip_op(".")) node->text.append(".").append(expect_any_name());
  node->parts.push_back(std::move(value));
  const TokenKind kind = current().kind;
  if (is_op("(")) {
    call_arguments(node->arguments);
  } else if ((kind == TokenKind::name && !is_name("else") && !is_name("or") && !is_name("and")) ||
             kind == TokenKind::text || kind == TokenKind::number || is_op("[") || is_op("{")) {
    if (is_name("is")) syntax("tests cannot be chained with is");
    node->arguments.values.push_back(postfix(primary()));
  }
  node = sealed(std::move(node));
  return negated ? make_of(NodeKind::not_, "", std::move(node)) : std::move(node);
}

void ExpressionParser::check_target(const Node& target) const {
  if (target.kind == NodeKind::tuple) {
    for (const NodeRef& part : target.parts) check_target(*part);
  } else if (target.kind != NodeKind::name && target.kind != NodeKind::space_member) {
    syntax("cannot assign to that");
  }
}

NodeRef ExpressionParser::assign_target(bool member, Ends ends) {
  bool several = false;
  NodeRef node = parts_until(ends, several, [&] { return primary(member); });
  if (!several && node->parts.empty()) syntax("expected a name to assign to");
  if (!several) node = std::move(node->parts.front());
  check_target(*node);
  return sealed(std::move(node));
}

}  // namespace mote::convert::jinja
