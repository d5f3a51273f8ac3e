// SPDX-License-Identifier: Apache-2.0
//
// Tokens to a tree, by Jinja's grammar.
#pragma once

#include <string_view>

#include "host/chat/jinja/lexer.h"
#include "host/chat/jinja/tree.h"

namespace mote::convert::jinja {

/// The whole template, its names resolved. Throws Refusal where Jinja has a syntax error, Unsupported where a
/// construct is known and not rendered here.
NodeRef parse(std::string_view source);

/// The expressions' half of the parser.
class ExpressionParser {
 public:
  explicit ExpressionParser(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

 protected:
  using Ends = std::initializer_list<std::string_view>;

  const Token& current() const { return tokens_[at_]; }
  const Token& next_token() const { return tokens_[std::min(at_ + 1, tokens_.size() - 1)]; }
  Token take();
  bool is_op(std::string_view op) const { return current().kind == TokenKind::op && current().text == op; }
  bool is_name(std::string_view name) const {
    return current().kind == TokenKind::name && current().text == name;
  }
  bool skip_op(std::string_view op);
  bool skip_name(std::string_view name);
  void expect_op(std::string_view op);
  void expect_name(std::string_view name);
  std::string expect_any_name();
  void expect(TokenKind kind, std::string_view shown);
  [[noreturn]] void syntax(const std::string& what) const;
  [[noreturn]] void unknown(const std::string& what) const;

  NodeRef make(NodeKind kind, std::string text = {}) const;
  template <class... Parts>
  NodeRef make_of(NodeKind kind, std::string text, Parts... parts) const {
    NodeRef node = make(kind, std::move(text));
    (node->parts.push_back(std::move(parts)), ...);
    return sealed(std::move(node));
  }
  /// Computes the depth, which is bounded.
  NodeRef sealed(NodeRef node) const;

  NodeRef expression(bool conditional = true);
  /// Several with commas are a tuple. `ends`: names that may end it after a comma.
  NodeRef tuple(bool conditional = true, bool parentheses = false, Ends ends = {});
  NodeRef assign_target(bool member, Ends ends = {});
  NodeRef filter(NodeRef value, bool started = false);
  NodeRef call(NodeRef callee);

 private:
  using Operand = NodeRef (ExpressionParser::*)();
  /// Says whether the next token is one of these operators or names.
  bool is_one_of(Ends operators) const;
  /// Operands with such operators between them, the first of which is computed first.
  NodeRef left_to_right(NodeKind kind, Ends operators, Operand operand);
  NodeRef or_expression();
  NodeRef and_expression();
  NodeRef not_expression();
  NodeRef comparison();
  NodeRef sum();
  NodeRef concatenation();
  NodeRef product();
  NodeRef power();
  NodeRef unary(bool with_filter = true);
  NodeRef filtered_unary() { return unary(); }
  NodeRef primary(bool member = false);
  /// Calls, and members and items or, behind these, filters and tests.
  NodeRef postfix(NodeRef node, bool filters = false);
  NodeRef subscript(NodeRef node);
  NodeRef subscribed(NodeRef node);
  NodeRef test(NodeRef node);
  /// A list or a dict between `first` and `last`.
  NodeRef bracketed(NodeKind kind, std::string_view first, std::string_view last);
  /// A tuple of what `part` reads, with commas behind each; `several`: there was one.
  template <class Part>
  NodeRef parts_until(Ends ends, bool& several, const Part& part);
  bool at_tuple_end(Ends ends) const;
  void call_arguments(CallArguments& arguments);
  void check_target(const Node& target) const;

  std::vector<Token> tokens_;
  size_t at_ = 0;
  mutable uint32_t nested_ = 0;

 protected:
  /// Counts nested calls of the parser.
  struct Nested {
    explicit Nested(const ExpressionParser& parser);
    ~Nested();
    const ExpressionParser& parser;
  };
};

}  // namespace mote::convert::jinja
