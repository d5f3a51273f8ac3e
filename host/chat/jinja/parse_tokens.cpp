// SPDX-License-Identifier: Apache-2.0
//
// The parser's hold on its tokens and on how deep it is.
#include <algorithm>

#include "host/chat/jinja/parser.h"

namespace mote::convert::jinja {
namespace {

/// The greatest depth of the parser's calls, about three for each pair of parentheses, and of the tree.
constexpr uint32_t kMostNestedTokens = 200;
constexpr uint32_t kMostTreeDepth = 400;

}  // namespace

ExpressionParser::Nested::Nested(const ExpressionParser& inner) : parser(inner) {
  if (++parser.nested_ > kMostNestedTokens) {
    --parser.nested_;
    parser.unknown(fmt::format("nesting deeper than {}", kMostNestedTokens));
  }
}
ExpressionParser::Nested::~Nested() { --parser.nested_; }

void ExpressionParser::syntax(const std::string& what) const { refuse("line {}: {}", current().line, what); }
void ExpressionParser::unknown(const std::string& what) const {
  unsupported("line {}: {}", current().line, what);
}

Token ExpressionParser::take() {
  Token token = current();
  if (at_ + 1 < tokens_.size()) ++at_;
  return token;
}

bool ExpressionParser::skip_op(std::string_view op) {
  if (!is_op(op)) return false;
  take();
  return true;
}

bool ExpressionParser::skip_name(std::string_view name) {
  if (!is_name(name)) return false;
  take();
  return true;
}

void ExpressionParser::expect_op(std::string_view op) {
  if (!skip_op(op)) syntax(fmt::format("expected '{}', got '{}'", op, current().text));
}
void ExpressionParser::expect_name(std::string_view name) {
  if (!skip_name(name)) syntax(fmt::format("expected '{}', got '{}'", name, current().text));
}
std::string ExpressionParser::expect_any_name() {
  if (current().kind != TokenKind::name) syntax(fmt::format("expected a name, got '{}'", current().text));
  return take().text;
}
void ExpressionParser::expect(TokenKind kind, std::string_view shown) {
  if (current().kind != kind) syntax(fmt::format("expected '{}', got '{}'", shown, current().text));
  take();
}

NodeRef ExpressionParser::make(NodeKind kind, std::string text) const {
  NodeRef node = std::make_unique<Node>();
  node->kind = kind;
  node->line = current().line;
  node->text = std::move(text);
  return node;
}

NodeRef ExpressionParser::sealed(NodeRef node) const {
  for_each_child(*node, [&](const Node& child) { node->depth = std::max(node->depth, child.depth + 1); });
  if (node->depth > kMostTreeDepth)
    unknown(fmt::format("an expression of more than {} steps", kMostTreeDepth));
  return node;
}

}  // namespace mote::convert::jinja
