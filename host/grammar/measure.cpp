// SPDX-License-Identifier: Apache-2.0
//
// Shortest endings: of each state, to where its rule may end. A call costs its rule's shortest text, so
// values sink until none does any more (Knuth 1977, "A Generalization of Dijkstra's Algorithm").
#include <algorithm>

#include "host/base/error.h"
#include "host/grammar/compile.h"
#include "schema/grammar_formats.h"

namespace mote::grammar {
namespace {

constexpr uint64_t kMostNeed = 1ull << 40;

uint64_t sum(uint64_t a, uint64_t b) {
  return a == kUnreachable || b == kUnreachable ? kUnreachable : std::min(a + b, kMostNeed);
}

uint64_t call_need(const Machine& machine, const MachineCall& call) {
  return sum(rule_need(machine, call.rule), call.back == kTail ? 0 : machine.states[call.back].need);
}

/// Returns the shortest way on from a state, whether it may end there or not.
uint64_t way_on(const Machine& machine, const MachineState& state) {
  if (state.free) {
    for (const MachineEdge& edge : state.edges) {
      if (state.advance >= edge.first && state.advance <= edge.last)
        return sum(1, machine.states[edge.target].need);
    }
  }
  uint64_t least = kUnreachable;
  for (const MachineEdge& edge : state.edges)
    least = std::min(least, sum(1, machine.states[edge.target].need));
  for (const MachineCall& call : state.calls) least = std::min(least, call_need(machine, call));
  return least;
}

/// Prefers bytes that people and vocabularies know.
uint32_t usual_byte(const MachineEdge& edge, uint32_t* rank) {
  constexpr Range kUsual[] = {{'"', '"'}, {'}', '}'}, {']', ']'}, {'a', 'z'},
                              {'0', '9'}, {'A', 'Z'}, {' ', '~'}, {0, 255}};
  for (uint32_t i = 0; i < std::size(kUsual); ++i) {
    const uint32_t byte = std::max(edge.first, kUsual[i].first);
    if (byte > std::min(edge.last, kUsual[i].last)) continue;
    *rank = i;
    return byte;
  }
  return edge.first;
}

uint32_t call_depth(const Machine& machine, const MachineCall& call) {
  const uint32_t inside = machine.states[machine.rules[call.rule].entry].depth;
  return call.back == kTail ? inside : std::max(1 + inside, machine.states[call.back].depth);
}

/// Chooses how the shortest ending begins; returns whether the state's depth changed.
bool choose_step(Machine& machine, MachineState& state) {
  const uint64_t need = way_on(machine, state);
  if (need == kUnreachable) {
    const bool changed = state.accepts && state.depth != 0;
    if (state.accepts) state.depth = 0;
    return changed;
  }
  uint32_t depth = UINT32_MAX, best_rank = UINT32_MAX;
  for (const MachineEdge& edge : state.edges) {
    if (sum(1, machine.states[edge.target].need) != need) continue;
    if (state.free && (state.advance < edge.first || state.advance > edge.last)) continue;
    uint32_t rank = 0;
    const uint32_t byte = state.free ? state.advance : usual_byte(edge, &rank);
    const uint32_t inside = machine.states[edge.target].depth;
    if (inside > depth || (inside == depth && rank >= best_rank)) continue;
    depth = inside;
    best_rank = rank;
    state.step = byte;
    state.step_calls = false;
  }
  for (uint32_t i = 0; i < state.calls.size(); ++i) {
    if (call_need(machine, state.calls[i]) != need) continue;
    const uint32_t inside = call_depth(machine, state.calls[i]);
    if (inside >= depth) continue;
    depth = inside;
    state.step = i;
    state.step_calls = true;
  }
  const uint32_t taken = state.accepts ? 0 : depth;
  const bool changed = taken != state.depth;
  state.depth = taken;
  return changed;
}

}  // namespace

uint64_t rule_need(const Machine& machine, uint32_t number) {
  const MachineRule& rule = machine.rules[number];
  const uint64_t one = machine.states[rule.entry].need;
  if (one == kUnreachable || rule.least <= 1) return one;
  return std::min(kMostNeed, one + (rule.least - 1) * std::min(one, kMostNeed / rule.least));
}

void measure(Machine& machine, Allowance& allowance) {
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t i = machine.states.size(); i-- > 1;) {
      MachineState& state = machine.states[i];
      const uint64_t need = state.accepts ? 0 : way_on(machine, state);
      allowance.work(2 + state.edges.size() + 2 * state.calls.size());
      if (need >= state.need) continue;
      state.need = need;
      changed = true;
    }
  }
  for (MachineRule& rule : machine.rules) rule.unit = rule.counted ? machine.states[rule.entry].need : 0;
}

void measure_depths(Machine& machine, Allowance& allowance) {
  for (size_t i = 1; i < machine.states.size(); ++i) machine.states[i].depth = kMaxGrammarDepth + 1;
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t i = machine.states.size(); i-- > 1;) {
      changed = choose_step(machine, machine.states[i]) || changed;
      allowance.work(2 + machine.states[i].edges.size() + 2 * machine.states[i].calls.size());
    }
  }
  // Where counts are still asked for, the ending goes through the entry's again.
  for (MachineState& state : machine.states) {
    if (machine.rules[state.rule].least > 0)
      state.depth = std::max(state.depth, machine.states[machine.rules[state.rule].entry].depth);
  }
}

}  // namespace mote::grammar
