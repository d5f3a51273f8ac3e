// SPDX-License-Identifier: Apache-2.0
#include "host/grammar/certain_steps.h"

#include <algorithm>

namespace mote::grammar {
namespace {

bool add_all(std::array<uint32_t, 8>& set, const uint32_t* other) {
  bool grown = false;
  for (uint32_t i = 0; i < 8; ++i) {
    grown = grown || (other[i] & ~set[i]) != 0;
    set[i] |= other[i];
  }
  return grown;
}

}  // namespace

CertainSteps::CertainSteps(const Machine& machine, Allowance& allowance)
    : machine_(machine),
      allowance_(allowance),
      follows_(machine.rules.size()),
      component_(machine.states.size()),
      rows_(machine.states.size()),
      ambiguous_(machine.rules.size(), -1) {
  find_follows();
  find_components();
}

void CertainSteps::find_follows() {
  const auto next_of = [&](uint32_t number) {
    const MachineState& state = machine_.states[number];
    ByteSet next = {};
    for (const MachineEdge& edge : state.edges) {
      for (uint32_t byte = edge.first; byte <= edge.last; ++byte) next[byte / 32] |= 1u << byte % 32;
    }
    for (const MachineCall& call : state.calls) add_all(next, machine_.rules[call.rule].starts);
    return next;
  };
  // States straight behind a call are found once; those behind the end of the caller sink.
  struct Passed {
    uint32_t from, to;
  };
  std::vector<Passed> passes;
  for (const MachineState& state : machine_.states) {
    for (const MachineCall& call : state.calls) {
      allowance_.work(64);
      if (call.back != kTail) add_all(follows_[call.rule], next_of(call.back).data());
      if (call.back == kTail || machine_.states[call.back].accepts)
        passes.push_back({call.back == kTail ? state.rule : machine_.states[call.back].rule, call.rule});
    }
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (const Passed& pass : passes) {
      allowance_.work(8);
      const ByteSet from = follows_[pass.from];
      changed = add_all(follows_[pass.to], from.data()) || changed;
    }
  }
}

/// Finds strongly connected components (Tarjan 1972) with a stack of its own.
void CertainSteps::find_components() {
  const auto count = static_cast<uint32_t>(machine_.states.size());
  struct Visit {
    uint32_t state;
    size_t edge;
  };
  std::vector<uint32_t> index(count), low(count), open;
  std::vector<bool> is_open(count);
  std::vector<Visit> path;
  uint32_t next = 0, components = 0;
  for (uint32_t first = 1; first < count; ++first) {
    if (index[first] != 0) continue;
    path.push_back({first, 0});
    while (!path.empty()) {
      Visit& visit = path.back();
      const uint32_t at = visit.state;
      if (index[at] == 0) {
        index[at] = low[at] = ++next;
        open.push_back(at);
        is_open[at] = true;
      }
      const auto& edges = machine_.states[at].edges;
      bool goes_down = false;
      while (visit.edge < edges.size()) {
        const uint32_t to = edges[visit.edge++].target;
        if (index[to] == 0) {
          path.push_back({to, 0});
          goes_down = true;
          break;
        }
        if (is_open[to]) low[at] = std::min(low[at], index[to]);
      }
      if (goes_down) continue;
      allowance_.work(4 + edges.size());
      if (low[at] == index[at]) {
        ++components;
        for (uint32_t member = 0; member != at;) {
          member = open.back();
          open.pop_back();
          is_open[member] = false;
          component_[member] = components;
        }
      }
      path.pop_back();
      if (!path.empty()) low[path.back().state] = std::min(low[path.back().state], low[at]);
    }
  }
}

const CertainSteps::Row& CertainSteps::of(uint32_t number) {
  std::unique_ptr<Row>& row = rows_[number];
  if (row != nullptr) return *row;
  allowance_.work(512);
  row = std::make_unique<Row>();
  row->fill(0);
  const MachineState& state = machine_.states[number];
  for (const MachineEdge& edge : state.edges) {
    for (uint32_t byte = edge.first; byte <= edge.last; ++byte)
      (*row)[byte] = (*row)[byte] == 0 ? edge.target : kTail;
  }
  for (uint32_t byte = 0; byte < 256; ++byte) {
    bool tried = state.accepts && follows(state.rule, byte);
    for (size_t i = 0; i < state.calls.size() && !tried; ++i)
      tried = (machine_.rules[state.calls[i].rule].starts[byte / 32] >> byte % 32 & 1) != 0;
    if (tried) (*row)[byte] = kTail;
  }
  return *row;
}

bool CertainSteps::has_ambiguous_head(uint32_t rule) {
  if (ambiguous_[rule] < 0) ambiguous_[rule] = find_ambiguous_head(rule) ? 1 : 0;
  return ambiguous_[rule] != 0;
}

bool CertainSteps::find_ambiguous_head(uint32_t rule) const {
  for (const MachineState& state : machine_.states) {
    if (state.rule != rule) continue;
    for (size_t i = 0; i + 1 < state.edges.size(); ++i) {
      if (state.edges[i + 1].first <= state.edges[i].last) return true;
    }
    if (!state.accepts) continue;
    if (!state.calls.empty()) return true;
    for (const MachineEdge& edge : state.edges) {
      for (uint32_t byte = edge.first; byte <= edge.last; ++byte) {
        if (follows(rule, byte)) return true;
      }
    }
  }
  return false;
}

}  // namespace mote::grammar
