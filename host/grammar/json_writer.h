// SPDX-License-Identifier: Apache-2.0
//
// Nodes of what JSON is made of: strings, separators, numbers, values.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "host/grammar/expression.h"
#include "host/grammar/json_schema.h"

namespace mote::grammar {

/// A decimal number as text has it: digits without zeros at the ends, times ten to a power.
struct Decimal {
  bool negative = false;
  std::string digits;    // "": 0
  int64_t exponent = 0;  // of the last digit

  static Decimal of(const Json& number);
  bool is_integer() const { return digits.empty() || exponent >= 0; }
  /// Returns the digits before and behind the point.
  std::string whole() const;
  std::string fraction() const;
  int compare(const Decimal& other) const;
};

struct NumberBounds {
  std::optional<Decimal> least, most;
  bool above = false, below = false;  // the bounds themselves are excluded
  bool integer = false;
  std::vector<Decimal> multiples;
};

class JsonWriter {
 public:
  JsonWriter(const JsonOptions& options, Allowance& allowance);

  const NodePtr& comma() const { return comma_; }
  const NodePtr& colon() const { return colon_; }
  const NodePtr& open() const { return inside_; }   // behind an opening bracket
  const NodePtr& close() const { return inside_; }  // before a closing one
  /// Returns a list's parts between brackets.
  NodePtr bracketed(const char* brackets, NodePtr inside) const;

  /// Returns a string of so many code points, with all of JSON's escapes.
  NodePtr string(uint32_t least, uint32_t most);
  /// Returns a string whose text the automaton accepts; each text has one spelling.
  NodePtr string(const TextDfa& dfa);
  NodePtr literal(const Json& value);

  /// Throws Error for multiples that are not read.
  NodePtr number(const NumberBounds& bounds);
  /// Returns texts of numbers that are not negative, or, with `negative`, of those that are without their
  /// sign.
  TextDfa number_dfa(const NumberBounds& bounds, bool negative);

 private:
  NodePtr plain_number() const;
  TextDfa unsigned_syntax(bool integer) const;

  JsonOptions options_;
  Allowance& allowance_;
  NodePtr comma_, colon_, inside_, any_character_;
  std::map<std::pair<uint32_t, uint32_t>, NodePtr> strings_;
};

/// Returns what writes one of the code points inside of a string, each in one way.
NodePtr json_characters(const CodePoints& set);

}  // namespace mote::grammar
