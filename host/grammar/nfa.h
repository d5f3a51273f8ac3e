// SPDX-License-Identifier: Apache-2.0
//
// A rule's body as an automaton that may be in several states at once (Thompson's construction).
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "host/grammar/compile.h"
#include "host/grammar/source.h"

namespace mote::grammar {

struct NfaState {
  std::vector<uint32_t> silent;  // states that are reached without a byte
  std::vector<MachineEdge> edges;
  std::vector<MachineCall> calls;
};

struct Nfa {
  std::vector<NfaState> states;
  uint32_t start = 0, end = 0;
};

/// A repeat that is counted instead of written out.
struct CountedRule {
  NodePtr part;
  uint32_t least, most;
};

/// Makes automata of nodes. Repeats that would take many states become rules behind those of the source.
class NfaBuilder {
 public:
  NfaBuilder(const Source& source, Allowance& allowance);

  Nfa build(const NodePtr& body);
  bool may_be_empty(const Node& node) const;
  bool rule_may_be_empty(uint32_t rule) const { return empty_[rule]; }
  const std::vector<CountedRule>& counted() const { return counted_; }

 private:
  uint64_t size_of(const Node& node);
  uint32_t add(const Node& node, uint32_t from);
  uint32_t add_repeat(const Node& node, uint32_t from);
  uint32_t counted_rule(const Node& repeat);
  uint32_t state();
  void silent(uint32_t from, uint32_t to) { nfa_.states[from].silent.push_back(to); }

  const Source& source_;
  Allowance& allowance_;
  Nfa nfa_;
  std::vector<bool> empty_;
  std::vector<CountedRule> counted_;
  std::map<const Node*, uint32_t> counted_by_node_;
  std::map<const Node*, uint64_t> sizes_;
};

}  // namespace mote::grammar
