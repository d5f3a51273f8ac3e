// SPDX-License-Identifier: Apache-2.0
#include "host/grammar/token_needs.h"

#include <algorithm>
#include <numeric>

namespace mote::grammar {
namespace {

/// Walks a shortest ending inside of one rule, calls included.
class Walk {
 public:
  Walk(const Machine& machine, uint32_t state, uint32_t count) : machine_(machine), frames_{{state, count}} {}

  /// False at the end of the rule.
  bool next(uint8_t* byte) {
    for (uint32_t turns = 0; turns < 4 * kMaxGrammarDepth; ++turns) {
      Frame& top = frames_.back();
      const MachineState& state = machine_.states[top.state];
      if (state.accepts && top.count >= machine_.rules[state.rule].least) {
        if (frames_.size() == 1) return false;
        frames_.pop_back();
        continue;
      }
      if (state.step_calls) {
        const MachineCall& call = state.calls[state.step];
        if (call.back == kTail) {
          top = {machine_.rules[call.rule].entry, 0};
        } else {
          enter(top, call.back);
          frames_.push_back({machine_.rules[call.rule].entry, 0});
        }
        continue;
      }
      *byte = static_cast<uint8_t>(state.step);
      for (const MachineEdge& edge : state.edges) {
        if (*byte < edge.first || *byte > edge.last) continue;
        enter(top, edge.target);
        return true;
      }
      return false;
    }
    return false;
  }
  uint64_t need() const {
    uint64_t sum = 0;
    for (const Frame& frame : frames_) {
      const MachineState& state = machine_.states[frame.state];
      const MachineRule& rule = machine_.rules[state.rule];
      const uint64_t counted = frame.count + uint64_t{state.head && state.accepts ? 0u : 1u};
      sum += state.need + (rule.least > counted ? rule.least - counted : 0) * rule.unit;
    }
    return sum;
  }

 private:
  struct Frame {
    uint32_t state, count;
  };
  void enter(Frame& frame, uint32_t target) {
    const MachineState& state = machine_.states[target];
    const MachineRule& rule = machine_.rules[state.rule];
    frame = {target, frame.count + (state.head && frame.count < rule.least ? 1 : 0)};
  }

  const Machine& machine_;
  std::vector<Frame> frames_;
};

}  // namespace

void count_tokens(Machine& machine, const VocabularyTrie& vocabulary, Allowance& allowance) {
  std::vector<uint32_t> order(machine.states.size() - 1);
  std::iota(order.begin(), order.end(), 1u);
  std::stable_sort(order.begin(), order.end(),
                   [&](uint32_t a, uint32_t b) { return machine.states[a].need < machine.states[b].need; });
  const uint32_t all = vocabulary.header->steps;
  for (const uint32_t number : order) {
    MachineState& state = machine.states[number];
    MachineRule& rule = machine.rules[state.rule];
    if (state.accepts) continue;
    // The count is such that the present one is the last that is asked for.
    Walk walk(machine, number, rule.counted && rule.least > 0 ? rule.least - 1 : 0);
    uint64_t best = state.need;
    uint32_t at = 0, end = all;
    uint8_t byte = 0;
    while (walk.next(&byte)) {
      allowance.work(16);
      while (at < end && vocabulary.steps[at].byte < byte) at += vocabulary.steps[at].size;
      if (at >= end || vocabulary.steps[at].byte != byte) break;
      if (vocabulary.steps[at].value != kNoTrieValue) best = std::min(best, 1 + walk.need());
      end = at + vocabulary.steps[at].size;
      ++at;
    }
    state.need = best;
    if (rule.counted && number == rule.entry) rule.unit = best;
  }
}

}  // namespace mote::grammar
