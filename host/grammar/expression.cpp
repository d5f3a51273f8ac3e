// SPDX-License-Identifier: Apache-2.0
#include "host/grammar/expression.h"

#include "host/base/error.h"

namespace mote::grammar {
namespace {

/// Returns whether the expression can be written as it is: ends of the text stand at the ends of the
/// expression alone.
bool has_inner_edges(const Expression& expression) {
  if (expression.kind == Expression::Kind::begin || expression.kind == Expression::Kind::end) return true;
  for (const ExpressionPtr& part : expression.parts) {
    if (has_inner_edges(*part)) return true;
  }
  return false;
}

NodePtr node_of_expression(const Expression& expression) {
  std::vector<NodePtr> parts;
  for (const ExpressionPtr& part : expression.parts) parts.push_back(node_of_expression(*part));
  switch (expression.kind) {
    case Expression::Kind::characters:
      return characters(expression.set);
    case Expression::Kind::choice:
      return choice(std::move(parts));
    case Expression::Kind::repeat:
      return repeat(parts[0], expression.least, expression.most);
    case Expression::Kind::sequence:
    case Expression::Kind::begin:
    case Expression::Kind::end:
      break;
  }
  return sequence(std::move(parts));
}

}  // namespace

Source expression_source(std::string_view text, Allowance& allowance) {
  const ExpressionPtr expression = parse_expression(text);
  // Without ends inside, repeats stay counters.
  NodePtr body = has_inner_edges(*expression) ? node_of(expression_dfa(expression, false, allowance),
                                                        [](const CodePoints& set) { return characters(set); })
                                              : node_of_expression(*expression);
  return {{{"the expression", std::move(body)}}, 0};
}

Source choice_source(const std::vector<std::string>& texts) {
  if (texts.empty()) convert::fail("a choice of no texts");
  std::vector<NodePtr> parts;
  for (const std::string& text : texts) parts.push_back(bytes(text));
  return {{{"the choice", choice(std::move(parts))}}, 0};
}

}  // namespace mote::grammar
