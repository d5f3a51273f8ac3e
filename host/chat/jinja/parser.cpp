// SPDX-License-Identifier: Apache-2.0
#include "host/chat/jinja/parser.h"

#include <algorithm>

#include "host/chat/jinja/filters.h"
#include "host/chat/jinja/scopes.h"

namespace mote::convert::jinja {
namespace {

class Parser : public ExpressionParser {
 public:
  explicit Parser(std::string_view source) : ExpressionParser(tokenize(source)) {}

  NodeRef program() {
    NodeRef node = make(NodeKind::program);
    node->body = statements({});
    return sealed(std::move(node));
  }

 private:
  /// Up to one of `ends`, which stays the current token; to the end of the template where there are none.
  std::vector<NodeRef> statements(Ends ends);
  /// Reads statements as statements() does, after the end of the tag that opens a block.
  std::vector<NodeRef> block(Ends ends);
  /// A block up to one end, which is taken.
  std::vector<NodeRef> whole_block(std::string_view end);
  NodeRef statement();
  NodeRef for_statement();
  NodeRef if_statement();
  NodeRef set_statement();
  NodeRef macro_statement();
  NodeRef call_statement();
  NodeRef with_statement();
  NodeRef loop_control(NodeKind kind);
  void signature(Node& macro);
  void output(std::vector<NodeRef>& out);

  uint32_t loops_ = 0;
};

void Parser::output(std::vector<NodeRef>& out) { out.push_back(make_of(NodeKind::output, "", tuple())); }

std::vector<NodeRef> Parser::statements(Ends ends) {
  const Nested nested(*this);
  std::vector<NodeRef> body;
  while (current().kind != TokenKind::end) {
    if (current().kind == TokenKind::data) {
      body.push_back(make(NodeKind::data, current().text));
      take();
    } else if (current().kind == TokenKind::variable_begin) {
      take();
      output(body);
      expect(TokenKind::variable_end, "}}");
    } else {
      expect(TokenKind::block_begin, "{%");
      if (std::any_of(ends.begin(), ends.end(), [&](std::string_view end) { return is_name(end); }))
        return body;
      if (is_name("print")) {
        for (take(); current().kind != TokenKind::block_end;) {
          body.push_back(make_of(NodeKind::output, "", expression()));
          if (current().kind != TokenKind::block_end) expect_op(",");
        }
      } else {
        body.push_back(statement());
      }
      expect(TokenKind::block_end, "%}");
    }
  }
  if (ends.size() != 0) syntax(fmt::format("the template ends, expected '{}'", *ends.begin()));
  return body;
}

std::vector<NodeRef> Parser::block(Ends ends) {
  skip_op(":");
  expect(TokenKind::block_end, "%}");
  return statements(ends);
}

std::vector<NodeRef> Parser::whole_block(std::string_view end) {
  std::vector<NodeRef> body = block({end});
  take();
  return body;
}

NodeRef Parser::statement() {
  constexpr std::string_view kUnsupported[] = {"block", "extends", "include", "import", "from", "autoescape"};
  if (current().kind != TokenKind::name) syntax("expected the name of a tag");
  const std::string name = current().text;
  if (name == "for") return for_statement();
  if (name == "if") return if_statement();
  if (name == "set") return set_statement();
  if (name == "macro") return macro_statement();
  if (name == "call") return call_statement();
  if (name == "with") return with_statement();
  if (name == "break") return loop_control(NodeKind::break_);
  if (name == "continue") return loop_control(NodeKind::continue_);
  if (name == "filter") {
    NodeRef node = make(NodeKind::filter_block);
    take();
    node->parts.push_back(filter(nullptr, true));
    node->body = whole_block("endfilter");
    return sealed(std::move(node));
  }
  if (name == "generation") {
    NodeRef node = make(NodeKind::generation);
    take();
    const uint32_t loops = std::exchange(loops_, 0);  // transformers makes a call block of it
    node->body = whole_block("endgeneration");
    loops_ = loops;
    return sealed(std::move(node));
  }
  for (const std::string_view known : kUnsupported) {
    if (name == known) unknown(fmt::format("the tag '{}'", name));
  }
  syntax(fmt::format("unknown tag '{}'", name));
}

NodeRef Parser::loop_control(NodeKind kind) {
  if (loops_ == 0) syntax(fmt::format("'{}' outside of a loop", current().text));
  NodeRef node = make(kind);
  take();
  return node;
}

NodeRef Parser::for_statement() {
  NodeRef node = make(NodeKind::for_);
  take();
  node->parts.push_back(assign_target(false, {"in"}));
  expect_name("in");
  node->parts.push_back(tuple(false, false, {"recursive"}));
  node->parts.push_back(skip_name("if") ? expression() : nullptr);
  if (is_name("recursive")) unknown("a recursive loop");
  ++loops_;
  node->body = block({"endfor", "else"});
  --loops_;
  if (take().text == "else") node->otherwise = whole_block("endfor");
  return sealed(std::move(node));
}

NodeRef Parser::if_statement() {
  NodeRef first = make(NodeKind::if_);
  Node* node = first.get();
  take();
  for (;;) {
    node->parts.push_back(tuple(false));
    node->body = block({"elif", "else", "endif"});
    const std::string end = take().text;
    if (end == "elif") {
      first->branches.push_back(make(NodeKind::if_));
      node = first->branches.back().get();
      continue;
    }
    if (end == "else") first->otherwise = whole_block("endif");
    for (NodeRef& branch : first->branches) branch = sealed(std::move(branch));
    return sealed(std::move(first));
  }
}

NodeRef Parser::set_statement() {
  NodeRef node = make(NodeKind::set);
  take();
  node->parts.push_back(assign_target(true));
  if (skip_op("=")) {
    node->parts.push_back(tuple());
    return sealed(std::move(node));
  }
  node->kind = NodeKind::set_block;
  node->parts.push_back(filter(nullptr));
  node->body = whole_block("endset");
  return sealed(std::move(node));
}

void Parser::signature(Node& macro) {
  expect_op("(");
  while (!is_op(")")) {
    if (!macro.names.empty()) expect_op(",");
    std::string name = expect_any_name();
    if (std::find(macro.names.begin(), macro.names.end(), name) != macro.names.end()) {
      syntax(fmt::format("the parameter '{}' appears twice", name));
    }
    if (name == "caller" || name == "kwargs" || name == "varargs") {
      unknown(fmt::format("a parameter with the name '{}'", name));
    }
    macro.names.push_back(std::move(name));
    if (skip_op("=")) {
      macro.parts.push_back(expression());
    } else if (!macro.parts.empty()) {
      syntax("a parameter without a default follows one with a default");
    }
  }
  expect_op(")");
}

NodeRef Parser::macro_statement() {
  NodeRef node = make(NodeKind::macro);
  take();
  node->text = expect_any_name();
  signature(*node);
  const uint32_t loops = std::exchange(loops_, 0);
  node->body = whole_block("endmacro");
  loops_ = loops;
  return sealed(std::move(node));
}

NodeRef Parser::call_statement() {
  NodeRef node = make(NodeKind::call_block);
  NodeRef caller = make(NodeKind::macro);
  take();
  if (is_op("(")) signature(*caller);
  node->parts.push_back(expression());
  if (node->parts[0]->kind != NodeKind::call) syntax("expected a call");
  const uint32_t loops = std::exchange(loops_, 0);
  caller->body = whole_block("endcall");
  loops_ = loops;
  node->branches.push_back(sealed(std::move(caller)));
  return sealed(std::move(node));
}

NodeRef Parser::with_statement() {
  NodeRef node = make(NodeKind::with);
  take();
  while (current().kind != TokenKind::block_end) {
    if (!node->names.empty()) expect_op(",");
    NodeRef target = assign_target(false);
    if (target->kind != NodeKind::name) unknown("with and several targets");
    node->names.push_back(target->text);
    expect_op("=");
    node->parts.push_back(expression());
  }
  node->body = whole_block("endwith");
  return sealed(std::move(node));
}

/// Jinja refuses a filter or test that it lacks when it compiles the template, except below a condition,
/// where it does so when that is reached.
void check_known(const Node& node, bool below_condition) {
  if (!below_condition && node.kind == NodeKind::filter) require_filter(node.text, node.line);
  if (!below_condition && node.kind == NodeKind::test) require_test(node.text, node.line);
  const bool condition = below_condition || node.kind == NodeKind::if_ || node.kind == NodeKind::conditional;
  for_each_child(node, [&](const Node& child) { check_known(child, condition); });
}

}  // namespace

NodeRef parse(std::string_view source) {
  NodeRef program = Parser(source).program();
  check_known(*program, false);
  resolve_names(*program);
  return program;
}

}  // namespace mote::convert::jinja
