// SPDX-License-Identifier: Apache-2.0
//
// A token is certain from a state where each of its bytes has one reading: a transition by the byte, no call
// that may begin with it, and no end of the rule behind which it may come. Tokens that stop being certain are
// kept by what is left of them.
#include "host/grammar/masks.h"

#include <algorithm>
#include <map>
#include <string>

namespace mote::grammar {
namespace {

constexpr uint32_t kWideShare = 8;  // a state has a mask if this part of the vocabulary lies below its bytes
constexpr uint32_t kMostMasks = 64;
constexpr uint32_t kMostCleared = 256;  // ids taken out of a set of bits instead of keeping another

struct ByteSet {
  uint32_t words[8] = {};
  bool has(uint32_t byte) const { return (words[byte / 32] >> byte % 32 & 1) != 0; }
  void add(uint32_t byte) { words[byte / 32] |= 1u << byte % 32; }
  bool add(const uint32_t* other) {
    bool grown = false;
    for (uint32_t i = 0; i < 8; ++i) {
      grown = grown || (other[i] & ~words[i]) != 0;
      words[i] |= other[i];
    }
    return grown;
  }
};

/// The bytes that may follow each rule.
std::vector<ByteSet> follows_of(const Machine& machine, Allowance& allowance) {
  std::vector<ByteSet> follows(machine.rules.size());
  const auto next_of = [&](uint32_t number) {
    const MachineState& state = machine.states[number];
    ByteSet next;
    for (const MachineEdge& edge : state.edges) {
      for (uint32_t byte = edge.first; byte <= edge.last; ++byte) next.add(byte);
    }
    for (const MachineCall& call : state.calls) next.add(machine.rules[call.rule].starts);
    return next;
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (const MachineState& state : machine.states) {
      for (const MachineCall& call : state.calls) {
        allowance.work(64);
        ByteSet& follow = follows[call.rule];
        const uint32_t behind = call.back == kTail ? state.rule : machine.states[call.back].rule;
        if (call.back != kTail) changed = follow.add(next_of(call.back).words) || changed;
        if (call.back == kTail || machine.states[call.back].accepts)
          changed = follow.add(follows[behind].words) || changed;
      }
    }
  }
  return follows;
}

class MaskMaker {
 public:
  MaskMaker(const Machine& machine, const VocabularyTrie& vocabulary, Allowance& allowance)
      : machine_(machine),
        vocabulary_(vocabulary),
        allowance_(allowance),
        follows_(follows_of(machine, allowance)) {
    for (uint32_t at = 0; at < vocabulary.header->steps; at += vocabulary.steps[at].size)
      steps_below_[vocabulary.steps[at].byte] = vocabulary.steps[at].size;
  }

  StoredMasks make() {
    for (uint32_t state = 1; state < machine_.states.size() && out_.masks.size() < kMostMasks; ++state) {
      if (is_wide(state)) make_mask(state);
    }
    return std::move(out_);
  }

 private:
  struct Certain {
    uint32_t id, counts;
  };
  struct Left {
    uint32_t id, before;
  };
  /// By the state that they are certain up to, whether it is in the mask's call, and what is left of them.
  using LeftTokens = std::map<std::pair<uint32_t, bool>, std::map<std::string, std::vector<Left>>>;

  /// Returns steps of the vocabulary below the bytes that the state goes on with.
  uint64_t edge_steps(const MachineState& state) const {
    uint64_t steps = 0;
    for (const MachineEdge& edge : state.edges) {
      for (uint32_t byte = edge.first; byte <= edge.last; ++byte) steps += steps_below_[byte];
    }
    return steps;
  }
  bool is_much(uint64_t steps) const { return steps * kWideShare >= vocabulary_.header->steps; }
  /// Returns the number from 1 on of the call that a state's tokens mostly begin with; 0: none.
  uint16_t wide_call(const MachineState& state) const {
    for (uint32_t i = 0; i < state.calls.size() && i < UINT16_MAX; ++i) {
      const uint32_t rule = state.calls[i].rule;
      const MachineState& entry = machine_.states[machine_.rules[rule].entry];
      if (is_much(edge_steps(entry)) && (!machine_.rules[rule].counted || !has_ambiguous_head(rule)))
        return static_cast<uint16_t>(i + 1);
    }
    return 0;
  }
  bool is_wide(uint32_t number) const {
    const MachineState& state = machine_.states[number];
    if (!is_much(edge_steps(state)) && wide_call(state) == 0) return false;
    if (!machine_.rules[state.rule].counted) return true;
    // Behind a head the count decides; it must not decide between readings of a byte.
    return state.head && !has_ambiguous_head(state.rule);
  }
  bool has_ambiguous_head(uint32_t rule) const {
    for (const MachineState& state : machine_.states) {
      if (state.rule != rule || !state.accepts) continue;
      for (const MachineEdge& edge : state.edges) {
        for (uint32_t byte = edge.first; byte <= edge.last; ++byte) {
          if (follows_[rule].has(byte)) return true;
        }
      }
      if (!state.calls.empty()) return true;
    }
    for (const MachineState& state : machine_.states) {
      if (state.rule != rule) continue;
      for (size_t i = 0; i + 1 < state.edges.size(); ++i) {
        if (state.edges[i + 1].first <= state.edges[i].last) return true;
      }
    }
    return false;
  }

  /// Returns the one state behind the byte; 0: the byte cannot be read; kTail: it has to be tried.
  uint32_t certain_step(const MachineState& state, uint32_t byte) const {
    for (const MachineCall& call : state.calls) {
      const uint32_t* const starts = machine_.rules[call.rule].starts;
      if ((starts[byte / 32] >> byte % 32 & 1) != 0) return kTail;
    }
    if (state.accepts && follows_[state.rule].has(byte)) return kTail;
    uint32_t target = 0;
    for (const MachineEdge& edge : state.edges) {
      if (byte < edge.first || byte > edge.last) continue;
      if (target != 0) return kTail;
      target = edge.target;
    }
    return target;
  }
  /// Returns the steps of a state for all bytes, found once.
  const std::vector<uint32_t>& steps_of(uint32_t state) {
    std::vector<uint32_t>& row = rows_[state];
    if (!row.empty()) return row;
    allowance_.work(1024);
    for (uint32_t byte = 0; byte < 256; ++byte) row.push_back(certain_step(machine_.states[state], byte));
    return row;
  }

  void make_mask(uint32_t start) {
    const MachineState& from = machine_.states[start];
    GrammarMask mask = {};
    mask.state = static_cast<uint16_t>(start);
    std::vector<Certain> certain;
    mask.call = machine_.rules[from.rule].counted ? 0 : wide_call(from);
    LeftTokens left;
    walk(start, vocabulary_.steps, vocabulary_.header->steps, mask, certain, left);
    if (from.free) {
      for (uint32_t i = 0; i < vocabulary_.header->textless; ++i)
        certain.push_back({vocabulary_.textless[i], 0});
    }
    add_levels(certain, mask);
    mask.tries = static_cast<uint32_t>(out_.tries.size());
    for (auto& [state, texts] : left) add_trie(state.first, state.second, texts);
    mask.trie_count = static_cast<uint32_t>(out_.tries.size()) - mask.tries;
    out_.masks.push_back(mask);
  }

  /// Returns the state of the called rule behind the first byte; 0: this is not the only reading.
  uint32_t step_in_call(const MachineState& from, uint16_t call, uint32_t byte) {
    if (call == 0 || (from.accepts && follows_[from.rule].has(byte))) return 0;
    for (const MachineEdge& edge : from.edges) {
      if (byte >= edge.first && byte <= edge.last) return 0;
    }
    for (uint32_t i = 0; i < from.calls.size(); ++i) {
      const uint32_t* const starts = machine_.rules[from.calls[i].rule].starts;
      if (((starts[byte / 32] >> byte % 32 & 1) != 0) != (i + 1 == call)) return 0;
    }
    const uint32_t to = steps_of(machine_.rules[from.calls[call - 1u].rule].entry)[byte];
    return to == kTail ? 0 : to;
  }

  void walk(uint32_t start, const TrieStep* steps, uint32_t count, GrammarMask& mask,
            std::vector<Certain>& certain, LeftTokens& left) {
    struct At {
      uint32_t state, counts;
      bool in_call;
    };
    const MachineState& from = machine_.states[start];
    const MachineCall* const call = mask.call == 0 ? nullptr : &from.calls[mask.call - 1u];
    const uint64_t behind = call == nullptr || call->back == kTail ? 0 : machine_.states[call->back].need;
    std::vector<At> path(kMaxTokenBytes + 1);
    path[0] = {start, 0, false};
    for (uint32_t i = 0; i < count;) {
      const TrieStep& step = steps[i];
      const At above = path[step.depth - 1];
      uint32_t to = steps_of(above.state)[step.byte];
      bool in_call = above.in_call;
      allowance_.work(1);
      if (to == kTail && step.depth == 1) {
        const uint32_t inside = step_in_call(from, mask.call, step.byte);
        if (inside != 0) {
          to = inside;
          in_call = true;
        }
      }
      if (to == 0) {
        i += step.size;
        continue;
      }
      const MachineRule& rule = machine_.rules[machine_.states[above.state].rule];
      if (to == kTail) {
        // In a call the count begins at 0, so what it forbids is known.
        if (!above.in_call || !rule.counted || above.counts >= rule.least)
          add_left(steps, i, above.counts, left[{above.state, above.in_call}]);
        i += step.size;
        continue;
      }
      const MachineState& state = machine_.states[to];
      const MachineRule& own = machine_.rules[state.rule];
      path[step.depth] = {to, above.counts + (state.head ? 1 : 0), in_call};
      const uint32_t counts = path[step.depth].counts + (own.counted && !state.head ? 1 : 0);
      if (in_call && own.counted && counts > own.most) {
        i += step.size;
        continue;
      }
      if (step.value != kNoTrieValue) {
        certain.push_back({step.value, in_call ? 0 : counts});
        uint64_t need = state.need;
        if (in_call) need += behind + (own.least > counts ? own.least - counts : 0) * own.unit;
        mask.need = std::max(mask.need, static_cast<uint32_t>(std::min<uint64_t>(need, kNoTrieValue)));
        mask.most_count = std::max(mask.most_count, in_call ? 0 : counts);
      }
      ++i;
    }
  }

  /// Adds the tokens at and below a step by their bytes from it on.
  void add_left(const TrieStep* steps, uint32_t top, uint32_t before,
                std::map<std::string, std::vector<Left>>& texts) {
    std::string text;
    for (uint32_t i = top; i < top + steps[top].size; ++i) {
      text.resize(steps[i].depth - steps[top].depth);
      text.push_back(static_cast<char>(steps[i].byte));
      allowance_.work(16);
      if (steps[i].value != kNoTrieValue) texts[text].push_back({steps[i].value, before});
    }
  }

  void add_trie(uint32_t state, bool in_call, const std::map<std::string, std::vector<Left>>& texts) {
    TrieBuilder builder;
    for (const auto& [text, tokens] : texts) {
      builder.add(text, static_cast<uint32_t>(out_.list.size()));
      out_.list.push_back(static_cast<uint32_t>(tokens.size()));
      for (const Left& token : tokens) out_.list.push_back(token.id | token.before << 24);
    }
    const std::vector<TrieStep> steps = builder.take(nullptr);
    GrammarTrie trie = {};
    trie.state = static_cast<uint16_t>(state);
    trie.in_call = in_call;
    trie.steps = static_cast<uint32_t>(out_.steps.size());
    trie.step_count = static_cast<uint32_t>(steps.size());
    out_.steps.insert(out_.steps.end(), steps.begin(), steps.end());
    out_.tries.push_back(trie);
  }

  uint32_t add_bits(const std::vector<Certain>& certain, uint32_t most) {
    const size_t words = (vocabulary_.header->vocab + 31) / 32, begin = out_.bits.size();
    out_.bits.resize(begin + words);
    for (const Certain& token : certain) {
      if (token.counts <= most) out_.bits[begin + token.id / 32] |= 1u << token.id % 32;
    }
    return out_.sets++;
  }

  /// A level for each number of counts that some token takes; from the highest down, each is the one above it
  /// without some ids, or a set of bits of its own.
  void add_levels(const std::vector<Certain>& certain, GrammarMask& mask) {
    std::map<uint32_t, std::vector<uint32_t>> by_counts;
    for (const Certain& token : certain) by_counts[token.counts].push_back(token.id);
    std::vector<GrammarLevel> levels;
    std::vector<uint32_t> cleared;
    uint32_t bits = 0;
    for (auto counts = by_counts.rbegin(); counts != by_counts.rend(); ++counts) {
      if (levels.empty() || cleared.size() > kMostCleared) {
        bits = add_bits(certain, counts->first);
        cleared.clear();
      }
      std::sort(cleared.begin(), cleared.end());
      levels.push_back({counts->first, bits, static_cast<uint32_t>(out_.list.size()),
                        static_cast<uint32_t>(cleared.size())});
      out_.list.insert(out_.list.end(), cleared.begin(), cleared.end());
      cleared.insert(cleared.end(), counts->second.begin(), counts->second.end());
      allowance_.work(certain.size() / 4);
    }
    std::reverse(levels.begin(), levels.end());
    mask.levels = static_cast<uint32_t>(out_.levels.size());
    mask.level_count = static_cast<uint32_t>(levels.size());
    out_.levels.insert(out_.levels.end(), levels.begin(), levels.end());
  }

  const Machine& machine_;
  const VocabularyTrie& vocabulary_;
  Allowance& allowance_;
  std::vector<ByteSet> follows_;
  uint32_t steps_below_[256] = {};
  std::map<uint32_t, std::vector<uint32_t>> rows_;
  StoredMasks out_;
};

}  // namespace

StoredMasks stored_masks(const Machine& machine, const VocabularyTrie& vocabulary, Allowance& allowance) {
  return MaskMaker(machine, vocabulary, allowance).make();
}

}  // namespace mote::grammar
