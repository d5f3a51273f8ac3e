// SPDX-License-Identifier: Apache-2.0
//
// Subsets (Rabin and Scott 1959) of each rule's automaton, in which a call of a rule is a symbol beside the
// bytes. A counted rule's automaton is that of one count; where it ends, a transition goes to the rule's
// head.
#include <algorithm>
#include <map>

#include "host/base/error.h"
#include "host/grammar/nfa.h"

namespace mote::grammar {
namespace {

using Set = std::vector<uint32_t>;

/// Makes the states of one rule.
class Subsets {
 public:
  Subsets(const Nfa& nfa, uint32_t rule, bool counted, Machine& machine, Allowance& allowance)
      : nfa_(nfa),
        rule_(rule),
        counted_(counted),
        machine_(machine),
        allowance_(allowance),
        marks_(nfa.states.size()) {}

  void build() {
    MachineRule& rule = machine_.rules[rule_];
    Set first = closure({nfa_.start});
    if (counted_) {
      std::erase(first, nfa_.end);
      rule.start = add_state(first, true);
      machine_.states[rule.start].head = machine_.states[rule.start].accepts = true;
      rule.entry = add_state(first, true);
      machine_.states[rule.entry].head = true;
    } else {
      rule.start = state_of(first);
      rule.entry = rule.start;
      if (machine_.states[rule.start].accepts) {
        rule.entry = add_state(first, true);
        machine_.states[rule.entry].accepts = false;
      }
    }
    for (size_t i = 0; i < sets_.size(); ++i) expand(i);
  }

 private:
  Set closure(const Set& from) {
    ++mark_;
    Set open = from, all;
    while (!open.empty()) {
      const uint32_t at = open.back();
      open.pop_back();
      if (marks_[at] == mark_) continue;
      marks_[at] = mark_;
      allowance_.work(4);
      const NfaState& state = nfa_.states[at];
      if (at == nfa_.end || !state.edges.empty() || !state.calls.empty()) all.push_back(at);
      open.insert(open.end(), state.silent.begin(), state.silent.end());
    }
    std::sort(all.begin(), all.end());
    return all;
  }

  uint32_t add_state(const Set& set, bool alone) {
    allowance_.state();
    const auto number = static_cast<uint32_t>(machine_.states.size());
    machine_.states.emplace_back();
    machine_.states.back().rule = rule_;
    machine_.states.back().accepts = !counted_ && std::binary_search(set.begin(), set.end(), nfa_.end);
    sets_.push_back({set, number});
    if (!alone) known_.emplace(set, number);
    return number;
  }
  uint32_t state_of(const Set& set) {
    allowance_.work(set.size());
    const auto known = known_.find(set);
    return known != known_.end() ? known->second : add_state(set, false);
  }
  /// Returns the states that a transition to the set enters.
  Set targets_of(const Set& to) {
    Set set = closure(to);
    if (!counted_ || !std::binary_search(set.begin(), set.end(), nfa_.end)) {
      if (set.empty()) return {};
      return {state_of(set)};
    }
    std::erase(set, nfa_.end);
    if (set.empty()) return {machine_.rules[rule_].start};
    return {machine_.rules[rule_].start, state_of(set)};
  }

  void expand(size_t number) {
    const Set set = sets_[number].set;
    const uint32_t state = sets_[number].state;
    std::vector<uint32_t> cuts;
    std::map<uint32_t, Set> calls;
    for (const uint32_t at : set) {
      for (const MachineEdge& edge : nfa_.states[at].edges) {
        cuts.push_back(edge.first);
        cuts.push_back(edge.last + 1);
      }
      for (const MachineCall& call : nfa_.states[at].calls) calls[call.rule].push_back(call.back);
    }
    std::sort(cuts.begin(), cuts.end());
    cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
    std::vector<MachineEdge> edges;
    for (size_t i = 0; i + 1 < cuts.size(); ++i) {
      Set to;
      for (const uint32_t at : set) {
        for (const MachineEdge& edge : nfa_.states[at].edges) {
          if (edge.first <= cuts[i] && edge.last >= cuts[i + 1] - 1) to.push_back(edge.target);
        }
        allowance_.work(1 + nfa_.states[at].edges.size());
      }
      if (to.empty()) continue;
      for (const uint32_t target : targets_of(to)) add_edge({cuts[i], cuts[i + 1] - 1, target}, edges);
    }
    std::sort(edges.begin(), edges.end());
    std::vector<MachineCall> made;
    for (const auto& [rule, backs] : calls) {
      for (const uint32_t back : targets_of(backs)) made.push_back({rule, back});
    }
    machine_.states[state].edges = std::move(edges);
    machine_.states[state].calls = std::move(made);
  }
  /// Ranges that touch and lead to one state are one.
  static void add_edge(const MachineEdge& edge, std::vector<MachineEdge>& edges) {
    for (size_t i = edges.size(); i-- > 0 && i + 3 > edges.size();) {
      if (edges[i].target != edge.target || edges[i].last + 1 != edge.first) continue;
      edges[i].last = edge.last;
      return;
    }
    edges.push_back(edge);
  }

  struct Made {
    Set set;
    uint32_t state;
  };

  const Nfa& nfa_;
  uint32_t rule_;
  bool counted_;
  Machine& machine_;
  Allowance& allowance_;
  std::vector<uint32_t> marks_;
  uint32_t mark_ = 0;
  std::vector<Made> sets_;
  std::map<Set, uint32_t> known_;
};

/// Makes the states of a rule of free text: places in the texts sought, as Aho and Corasick (1975) have them.
/// Part i is called behind text i.
void build_free(const Node& node, uint32_t rule, Machine& machine, Allowance& allowance) {
  struct Place {
    std::map<uint8_t, uint32_t> next;
    uint32_t fallback = 0, depth = 0;
    int32_t ends = -1;
    uint32_t advance = 0;
  };
  std::vector<Place> places(1);
  for (size_t i = 0; i < node.texts.size(); ++i) {
    uint32_t at = 0;
    for (const char c : node.texts[i]) {
      const auto byte = static_cast<uint8_t>(c);
      if (places[at].next.empty()) places[at].advance = byte;
      const auto [found, added] = places[at].next.try_emplace(byte, static_cast<uint32_t>(places.size()));
      const uint32_t to = found->second;
      if (added) {
        places.emplace_back();
        places.back().depth = places[at].depth + 1;
      }
      at = to;
      if (places[at].ends >= 0) break;  // a shorter text has come first
    }
    if (places[at].ends < 0) places[at].ends = static_cast<int32_t>(i);
  }
  std::vector<uint32_t> order = {0};
  for (size_t i = 0; i < order.size(); ++i) {
    for (const auto& [byte, to] : places[order[i]].next) {
      uint32_t at = places[order[i]].fallback;
      while (at != 0 && !places[at].next.contains(byte)) at = places[at].fallback;
      const auto found = places[at].next.find(byte);
      if (order[i] != 0 && found != places[at].next.end()) places[to].fallback = found->second;
      if (places[to].ends < 0) places[to].ends = places[places[to].fallback].ends;
      order.push_back(to);
    }
  }
  const auto base = static_cast<uint32_t>(machine.states.size());
  const auto count = static_cast<uint32_t>(places.size());
  for (uint32_t i = 0; i < count + 2; ++i) {
    allowance.state();
    machine.states.emplace_back();
    machine.states.back().rule = rule;
  }
  const uint32_t end = base + count, entry = base + count + 1;
  machine.states[end].accepts = true;
  for (uint32_t i = 0; i < count; ++i) {
    MachineState& state = machine.states[base + i];
    if (places[i].ends >= 0) {
      const NodePtr& part = node.parts[static_cast<size_t>(places[i].ends)];
      state.calls.push_back({part->rule, node.again ? base : end});
      continue;
    }
    state.free = true;
    state.accepts = node.least == 0;
    state.advance = places[i].advance;
    for (uint32_t byte = 0; byte < 256; ++byte) {
      uint32_t at = i;
      while (at != 0 && !places[at].next.contains(static_cast<uint8_t>(byte))) at = places[at].fallback;
      const auto found = places[at].next.find(static_cast<uint8_t>(byte));
      const uint32_t to = base + (found == places[at].next.end() ? 0 : found->second);
      if (!state.edges.empty() && state.edges.back().target == to) {
        state.edges.back().last = byte;
      } else {
        state.edges.push_back({byte, byte, to});
      }
    }
    allowance.work(1024);
  }
  machine.states[entry] = machine.states[base];
  machine.states[entry].accepts = false;
  machine.rules[rule].start = base;
  machine.rules[rule].entry = entry;
}

}  // namespace

void measure(Machine& machine, Allowance& allowance);   // measure.cpp
void simplify(Machine& machine, Allowance& allowance);  // simplify.cpp

Machine build_machine(const Source& source, Allowance& allowance) {
  Machine machine;
  machine.states.emplace_back();  // number 0 is none
  machine.start = source.start;
  NfaBuilder builder(source, allowance);
  for (uint32_t i = 0; i < source.rules.size() + builder.counted().size(); ++i) {
    machine.rules.emplace_back();
    MachineRule& rule = machine.rules.back();
    const bool counted = i >= source.rules.size();
    NodePtr body;
    if (counted) {
      const CountedRule& repeat = builder.counted()[i - source.rules.size()];
      rule.name = "a repeat";
      rule.counted = true;
      rule.least = repeat.least;
      rule.most = repeat.most;
      body = repeat.part;
    } else {
      rule.name = source.rules[i].name;
      body = source.rules[i].body;
    }
    if (body->kind == Node::Kind::free) {
      build_free(*body, i, machine, allowance);
      continue;
    }
    const Nfa nfa = builder.build(body);
    Subsets(nfa, i, counted, machine, allowance).build();
  }
  measure(machine, allowance);
  simplify(machine, allowance);
  return machine;
}

}  // namespace mote::grammar
