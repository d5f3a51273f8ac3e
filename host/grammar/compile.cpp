// SPDX-License-Identifier: Apache-2.0
#include "host/grammar/compile.h"

#include <algorithm>
#include <chrono>
#include <map>

#include "host/base/error.h"
#include "host/grammar/masks.h"
#include "host/grammar/table_writer.h"
#include "host/grammar/token_needs.h"
#include "schema/grammar_formats.h"

namespace mote::grammar {
namespace {

constexpr uint64_t kLookSteps = 1 << 18;
constexpr size_t kDenseEdges = 6;  // a state with more has a row

uint64_t now_ns() {
  return static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch() /
                               std::chrono::nanoseconds(1));
}

/// Puts states, edges and calls into their sections.
class Sections {
 public:
  Sections(const Machine& machine, const StoredMasks& masks) : machine_(machine) {
    for (uint32_t i = 0; i < masks.masks.size(); ++i)
      masks_[masks.masks[i].state] = static_cast<uint16_t>(i + 1);
    states.emplace_back();
    states.back() = {};
    for (uint32_t i = 1; i < machine.states.size(); ++i) add_state(i);
    for (const MachineRule& rule : machine.rules) {
      GrammarRule one = {};
      one.entry = static_cast<uint16_t>(rule.entry);
      one.width = static_cast<uint16_t>(rule.width);
      one.least = rule.least;
      one.most = rule.most;
      one.unit = narrow(rule.unit);
      std::copy_n(rule.starts, 8, one.starts);
      rules.push_back(one);
    }
  }

  std::vector<GrammarRule> rules;
  std::vector<GrammarState> states;
  std::vector<GrammarEdge> edges;
  std::vector<GrammarCall> calls;
  std::vector<uint16_t> rows;

 private:
  static uint32_t narrow(uint64_t need) {
    return static_cast<uint32_t>(std::min<uint64_t>(need, kNoTrieValue));
  }

  void add_state(uint32_t number) {
    const MachineState& from = machine_.states[number];
    GrammarState state = {};
    bool overlaps = false;
    for (size_t i = 0; i + 1 < from.edges.size(); ++i)
      overlaps = overlaps || from.edges[i + 1].first <= from.edges[i].last;
    state.flags = static_cast<uint8_t>((from.accepts ? kStateAccepts : 0) | (from.head ? kStateHead : 0) |
                                       (from.free ? kStateFree : 0) | (from.step_calls ? kStateCalls : 0));
    if (from.edges.size() > kDenseEdges && !overlaps) {
      state.flags = static_cast<uint8_t>(state.flags | kStateDense);
      state.edges = static_cast<uint32_t>(rows.size() / 256);
      rows.resize(rows.size() + 256);
      for (const MachineEdge& edge : from.edges) {
        std::fill_n(rows.end() - 256 + edge.first, edge.last - edge.first + 1,
                    static_cast<uint16_t>(edge.target));
      }
    } else {
      state.edges = static_cast<uint32_t>(edges.size());
      state.edge_count = static_cast<uint16_t>(from.edges.size());
      for (const MachineEdge& edge : from.edges) {
        edges.push_back({static_cast<uint8_t>(edge.first), static_cast<uint8_t>(edge.last),
                         static_cast<uint16_t>(edge.target)});
      }
    }
    state.calls = static_cast<uint32_t>(calls.size());
    state.call_count = static_cast<uint16_t>(from.calls.size());
    uint32_t width = 1;
    for (const MachineCall& call : from.calls) {
      calls.push_back(
          {static_cast<uint16_t>(call.rule), static_cast<uint16_t>(call.back == kTail ? 0 : call.back)});
      width += machine_.rules[call.rule].width;
    }
    if (width > kMaxReadings) {
      convert::fail("{} can go on in more than {} ways at once: write what they have in common once",
                    machine_.rules[from.rule].name, kMaxReadings);
    }
    state.rule = static_cast<uint16_t>(from.rule);
    const auto mask = masks_.find(static_cast<uint16_t>(number));
    state.mask = mask == masks_.end() ? uint16_t{0} : mask->second;
    state.need = narrow(from.need);
    state.depth = static_cast<uint8_t>(std::min<uint32_t>(from.depth, UINT8_MAX));
    state.step = static_cast<uint16_t>(from.free ? from.advance : from.step);
    states.push_back(state);
  }

  const Machine& machine_;
  std::map<uint16_t, uint16_t> masks_;
};

}  // namespace

Allowance::Allowance(const CompileLimits& limits) : limits_(limits), begin_ns_(now_ns()) {
  if (limits.states == 0 || limits.states > kMaxGrammarStates)
    convert::fail("states: from 1 to {}", kMaxGrammarStates);
  if (limits.depth == 0 || limits.depth > kMaxGrammarDepth)
    convert::fail("depth: from 1 to {}", kMaxGrammarDepth);
}

void Allowance::work(uint64_t steps) {
  steps_ += steps;
  if (steps_ < next_look_) return;
  next_look_ = steps_ + kLookSteps;
  if (static_cast<double>(now_ns() - begin_ns_) > limits_.seconds * 1e9)
    convert::fail("compiling the grammar takes more than {} s", limits_.seconds);
}

bool Allowance::is_half_over() const {
  return static_cast<double>(now_ns() - begin_ns_) > limits_.seconds * 0.5e9;
}

void Allowance::state() {
  work(64);
  if (++states_ > limits_.states) convert::fail("the grammar takes more than {} states", limits_.states);
}

std::vector<uint8_t> compile(const Source& source, const VocabularyTrie* vocabulary,
                             const CompileLimits& limits) {
  Allowance allowance(limits);
  Machine machine = build_machine(source, allowance);
  const uint32_t depth = machine.states[machine.rules[machine.start].start].depth;
  if (depth > limits.depth)
    convert::fail("the shortest answer takes {} levels, the limit of the depth is {}", depth, limits.depth);
  StoredMasks masks;
  if (vocabulary != nullptr) {
    count_tokens(machine, *vocabulary, allowance);
    masks = stored_masks(machine, *vocabulary, allowance);
  }
  const Sections sections(machine, masks);
  GrammarHeader header = {};
  header.magic = kGrammarMagic;
  header.version = kGrammarVersion;
  if (vocabulary != nullptr) {
    header.vocabulary = vocabulary->header->hash;
    header.vocab = vocabulary->header->vocab;
  }
  header.depth = static_cast<uint16_t>(limits.depth);
  header.start = static_cast<uint16_t>(machine.rules[machine.start].start);
  header.rules = static_cast<uint32_t>(sections.rules.size());
  header.states = static_cast<uint32_t>(sections.states.size());
  header.edges = static_cast<uint32_t>(sections.edges.size());
  header.calls = static_cast<uint32_t>(sections.calls.size());
  header.rows = static_cast<uint32_t>(sections.rows.size() / 256);
  header.masks = static_cast<uint32_t>(masks.masks.size());
  header.levels = static_cast<uint32_t>(masks.levels.size());
  header.tries = static_cast<uint32_t>(masks.tries.size());
  header.groups = static_cast<uint32_t>(masks.groups.size());
  header.steps = static_cast<uint32_t>(masks.steps.size());
  header.list = static_cast<uint32_t>(masks.list.size());
  header.bits = masks.sets;
  TableWriter writer(header);
  writer.add(sections.rules);
  writer.add(sections.states);
  writer.add(sections.edges);
  writer.add(sections.calls);
  writer.add(sections.rows);
  writer.add(masks.masks);
  writer.add(masks.levels);
  writer.add(masks.tries);
  writer.add(masks.groups);
  writer.add(masks.steps);
  writer.add(masks.list);
  writer.add(masks.bits);
  std::vector<uint8_t> tables = writer.take();
  if (tables.size() > limits.bytes)
    convert::fail("the grammar's tables take {} bytes, the limit is {}", tables.size(), limits.bytes);
  return tables;
}

}  // namespace mote::grammar
