// SPDX-License-Identifier: Apache-2.0
//
// Rules as automata: what the tables hold, in memory that can grow.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace mote::grammar {

inline constexpr uint32_t kTail = UINT32_MAX;  // a call's frame ends with it
inline constexpr uint64_t kUnreachable = UINT64_MAX;

struct MachineEdge {
  uint32_t first, last, target;
  friend auto operator<=>(const MachineEdge&, const MachineEdge&) = default;
};

struct MachineCall {
  uint32_t rule, back;
  friend auto operator<=>(const MachineCall&, const MachineCall&) = default;
};

struct MachineState {
  std::vector<MachineEdge> edges;
  std::vector<MachineCall> calls;
  uint32_t rule = 0;
  bool accepts = false, head = false, free = false;
  uint32_t advance = 0;  // of a free state

  // measure() finds these.
  uint64_t need =
      kUnreachable;  // bytes of the shortest ending of the rule, or tokens once a vocabulary counted them
  uint32_t depth = 0, step = 0;
  bool step_calls = false;
};

struct MachineRule {
  std::string name;
  uint32_t start = 0, entry = 0;  // the entry does not accept
  uint32_t least = 0, most = UINT32_MAX;
  bool counted = false;
  uint64_t unit = 0;
  uint32_t width = 1;
  uint32_t starts[8] = {};
};

struct Machine {
  std::vector<MachineState> states;
  std::vector<MachineRule> rules;
  uint32_t start = 0;  // rule
};

/// Returns bytes of the shortest text of a rule.
uint64_t rule_need(const Machine& machine, uint32_t rule);

}  // namespace mote::grammar
