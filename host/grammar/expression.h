// SPDX-License-Identifier: Apache-2.0
//
// Regular expressions of ECMA-262 with the flag u, without look-around and back references.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "host/grammar/compile.h"
#include "host/grammar/source.h"

namespace mote::grammar {

struct Expression;
using ExpressionPtr = std::shared_ptr<const Expression>;

struct Expression {
  enum class Kind { characters, sequence, choice, repeat, begin, end };
  Kind kind = Kind::sequence;
  CodePoints set;
  std::vector<ExpressionPtr> parts;
  uint32_t least = 0, most = 0;
};

/// Throws Error, which names the place, for what is no expression and for what is not read.
ExpressionPtr parse_expression(std::string_view text);

/// An automaton over code points.
struct TextDfa {
  struct Edge {
    CodePoints set;
    uint32_t target;
  };
  struct State {
    std::vector<Edge> edges;  // disjoint
    bool accepts = false;
  };
  std::vector<State> states;  // the first is the start

  bool matches(std::string_view text) const;
};

/// Texts that the expression matches whole, or, with `anywhere`, in any part.
TextDfa expression_dfa(const ExpressionPtr& expression, bool anywhere, Allowance& allowance);

/// Texts that one automaton accepts, and the other too or not.
TextDfa both(const TextDfa& a, const TextDfa& b, Allowance& allowance);
TextDfa complement(const TextDfa& dfa);
/// Accepts the texts alone.
TextDfa texts_dfa(const std::vector<std::string>& texts, Allowance& allowance);
/// Accepts texts of so many code points.
TextDfa length_dfa(uint32_t least, uint32_t most, Allowance& allowance);
bool is_empty(const TextDfa& dfa);

/// Returns what writes the texts that it accepts; `write` makes a node of a set of code points.
NodePtr node_of(const TextDfa& dfa, const std::function<NodePtr(const CodePoints&)>& write);

/// Answers that the whole expression matches.
Source expression_source(std::string_view text, Allowance& allowance);
/// Answers that are one of the texts.
Source choice_source(const std::vector<std::string>& texts);

}  // namespace mote::grammar
