// SPDX-License-Identifier: Apache-2.0
//
// Leaves out what no answer passes, and makes states one that cannot be told apart.
#include <algorithm>
#include <map>
#include <unordered_map>

#include "host/base/error.h"
#include "host/grammar/compile.h"
#include "schema/grammar_formats.h"

namespace mote::grammar {
namespace {

constexpr uint32_t kMergeRounds = 64;

void prune(Machine& machine) {
  const auto reaches = [&](uint32_t state) { return machine.states[state].need != kUnreachable; };
  for (MachineState& state : machine.states) {
    std::erase_if(state.edges, [&](const MachineEdge& edge) { return !reaches(edge.target); });
    std::erase_if(state.calls, [&](const MachineCall& call) {
      return rule_need(machine, call.rule) == kUnreachable || !reaches(call.back);
    });
  }
}

/// Puts states that others were merged into in the place of those, and makes ranges that touch one.
void follow_merges(MachineState& state, const std::vector<uint32_t>& now) {
  for (MachineEdge& edge : state.edges) edge.target = now[edge.target];
  for (MachineCall& call : state.calls) call.back = now[call.back];
  size_t kept = 0;
  for (size_t i = 0; i < state.edges.size(); ++i) {
    const MachineEdge& edge = state.edges[i];
    if (kept > 0 && state.edges[kept - 1].target == edge.target &&
        state.edges[kept - 1].last + 1 == edge.first) {
      state.edges[kept - 1].last = edge.last;
    } else {
      state.edges[kept++] = edge;
    }
  }
  state.edges.resize(kept);
}

uint64_t hash_of(const MachineState& state) {
  uint64_t hash = state.rule * 8 + state.accepts * 4 + state.head * 2 + state.free;
  const auto add = [&](uint64_t value) { hash = (hash ^ value) * 0x9E3779B97F4A7C15u + (hash >> 29); };
  add(state.advance);
  for (const MachineEdge& edge : state.edges) {
    add(edge.first << 8 | edge.last);
    add(edge.target);
  }
  for (const MachineCall& call : state.calls) {
    add(call.rule);
    add(call.back);
  }
  return hash;
}

bool are_equal(const MachineState& a, const MachineState& b) {
  return a.rule == b.rule && a.accepts == b.accepts && a.head == b.head && a.free == b.free &&
         a.advance == b.advance && a.edges == b.edges && a.calls == b.calls;
}

/// Merges states of one rule whose transitions and properties are equal. Most transitions lead to states
/// behind, so a round from the last to the first finds what does not lead back.
void merge_equal(Machine& machine, Allowance& allowance) {
  std::vector<uint32_t> now(machine.states.size());
  for (uint32_t i = 0; i < now.size(); ++i) now[i] = i;
  std::vector<bool> gone(machine.states.size());
  for (uint32_t round = 0; round < kMergeRounds; ++round) {
    std::unordered_multimap<uint64_t, uint32_t> known(machine.states.size());
    bool merged = false;
    for (uint32_t i = static_cast<uint32_t>(machine.states.size()); i-- > 1;) {
      if (gone[i]) continue;
      MachineState& state = machine.states[i];
      allowance.work(8 + 2 * state.edges.size() + 2 * state.calls.size());
      follow_merges(state, now);
      const uint64_t hash = hash_of(state);
      auto [same, end] = known.equal_range(hash);
      while (same != end && !are_equal(machine.states[same->second], state)) ++same;
      if (same == end) {
        known.emplace(hash, i);
        continue;
      }
      now[i] = same->second;
      gone[i] = merged = true;
    }
    if (!merged) break;
  }
  for (uint32_t i = 1; i < machine.states.size(); ++i) {
    if (!gone[i]) follow_merges(machine.states[i], now);
  }
  for (MachineRule& rule : machine.rules) {
    rule.start = now[rule.start];
    rule.entry = now[rule.entry];
  }
}

/// Returns whether nothing can follow in the rule.
bool is_end(const Machine& machine, uint32_t number) {
  const MachineState& state = machine.states[number];
  return state.accepts && !state.head && state.edges.empty() && state.calls.empty();
}

/// Marks what the start reaches.
struct Reached {
  std::vector<bool> states, rules;
};

Reached reach(const Machine& machine, Allowance& allowance) {
  Reached reached = {std::vector<bool>(machine.states.size()), std::vector<bool>(machine.rules.size())};
  std::vector<uint32_t> open;
  const auto see = [&](uint32_t state) {
    if (state == kTail || reached.states[state]) return;
    reached.states[state] = true;
    open.push_back(state);
  };
  const auto see_rule = [&](uint32_t rule) {
    if (reached.rules[rule]) return;
    reached.rules[rule] = true;
    see(machine.rules[rule].entry);
    if (machine.rules[rule].counted) see(machine.rules[rule].start);
  };
  see_rule(machine.start);
  see(machine.rules[machine.start].start);
  while (!open.empty()) {
    const MachineState& state = machine.states[open.back()];
    open.pop_back();
    allowance.work(4 + state.edges.size() + state.calls.size());
    for (const MachineEdge& edge : state.edges) see(edge.target);
    for (const MachineCall& call : state.calls) {
      see_rule(call.rule);
      see(call.back);
    }
  }
  return reached;
}

void renumber(Machine& machine, const Reached& reached) {
  std::vector<uint32_t> states(machine.states.size()), rules(machine.rules.size());
  Machine kept;
  kept.states.emplace_back();
  for (uint32_t i = 0; i < rules.size(); ++i) {
    if (!reached.rules[i]) continue;
    rules[i] = static_cast<uint32_t>(kept.rules.size());
    kept.rules.push_back(std::move(machine.rules[i]));
  }
  for (uint32_t i = 1; i < states.size(); ++i) {
    if (!reached.states[i]) continue;
    states[i] = static_cast<uint32_t>(kept.states.size());
    kept.states.push_back(std::move(machine.states[i]));
  }
  for (MachineState& state : kept.states) {
    if (&state == &kept.states.front()) continue;
    state.rule = rules[state.rule];
    for (MachineEdge& edge : state.edges) edge.target = states[edge.target];
    for (MachineCall& call : state.calls) {
      call.rule = rules[call.rule];
      if (call.back != kTail) call.back = states[call.back];
    }
  }
  for (MachineRule& rule : kept.rules) {
    rule.start = reached.states[rule.start] ? states[rule.start] : states[rule.entry];
    rule.entry = states[rule.entry];
  }
  kept.start = rules[machine.start];
  machine = std::move(kept);
}

/// Gives rules numbers so that each calls, before a byte, rules behind it alone. Finds the bytes that they
/// begin with and the readings of one.
void order_rules(Machine& machine, Allowance& allowance) {
  enum Mark : uint8_t { kNew, kOpen, kDone };
  std::vector<uint8_t> marks(machine.rules.size(), kNew);
  std::vector<uint32_t> order;  // what is called comes before what calls
  struct Visit {
    uint32_t rule;
    size_t next;
  };
  for (uint32_t first = 0; first < machine.rules.size(); ++first) {
    if (marks[first] != kNew) continue;
    std::vector<Visit> path = {{first, 0}};
    marks[first] = kOpen;
    while (!path.empty()) {
      Visit& visit = path.back();
      const auto& calls = machine.states[machine.rules[visit.rule].entry].calls;
      allowance.work(4);
      if (visit.next == calls.size()) {
        marks[visit.rule] = kDone;
        order.push_back(visit.rule);
        path.pop_back();
        continue;
      }
      const uint32_t callee = calls[visit.next++].rule;
      if (marks[callee] == kOpen)
        convert::fail("{} begins with itself: a rule must write something before it comes to itself again",
                      machine.rules[callee].name);
      if (marks[callee] == kDone) continue;
      marks[callee] = kOpen;
      path.push_back({callee, 0});
    }
  }
  std::vector<uint32_t> numbers(machine.rules.size());
  std::vector<MachineRule> rules(machine.rules.size());
  for (size_t i = 0; i < order.size(); ++i) numbers[order[i]] = static_cast<uint32_t>(order.size() - 1 - i);
  for (size_t i = 0; i < order.size(); ++i) rules[numbers[i]] = std::move(machine.rules[i]);
  machine.rules = std::move(rules);
  machine.start = numbers[machine.start];
  for (MachineState& state : machine.states) {
    state.rule = machine.rules.empty() ? 0 : numbers[state.rule];
    for (MachineCall& call : state.calls) call.rule = numbers[call.rule];
  }
  for (size_t i = machine.rules.size(); i-- > 0;) {
    MachineRule& rule = machine.rules[i];
    const MachineState& entry = machine.states[rule.entry];
    rule.width = 1;
    for (const MachineEdge& edge : entry.edges) {
      for (uint32_t byte = edge.first; byte <= edge.last; ++byte) rule.starts[byte / 32] |= 1u << byte % 32;
    }
    for (const MachineCall& call : entry.calls) {
      const MachineRule& callee = machine.rules[call.rule];
      for (uint32_t word = 0; word < 8; ++word) rule.starts[word] |= callee.starts[word];
      rule.width = std::min(rule.width + callee.width, 1u << 16);
    }
    if (rule.width > kMaxReadings)
      convert::fail("{} can begin in more than {} ways at once: write what they have in common once",
                    rule.name, kMaxReadings);
  }
}

}  // namespace

void measure_depths(Machine& machine, Allowance& allowance);  // measure.cpp

void simplify(Machine& machine, Allowance& allowance) {
  const MachineRule& start = machine.rules[machine.start];
  if (machine.states[start.start].need == kUnreachable)
    convert::fail("no answer fits: the grammar contradicts itself");
  prune(machine);
  merge_equal(machine, allowance);
  for (MachineState& state : machine.states) {
    for (MachineCall& call : state.calls) {
      if (is_end(machine, call.back)) call.back = kTail;
    }
  }
  renumber(machine, reach(machine, allowance));
  order_rules(machine, allowance);
  measure_depths(machine, allowance);
}

}  // namespace mote::grammar
