// SPDX-License-Identifier: Apache-2.0
//
// A token is certain from a state where each of its bytes has one reading. Tokens that stop being certain are
// kept by what is left of them.
#include "host/grammar/masks.h"

#include <algorithm>
#include <bit>
#include <map>

#include "host/grammar/certain_tokens.h"
#include "runtime/file/xxh64.h"

namespace mote::grammar {
namespace {

constexpr uint32_t kWideShare = 48;   // a state may have a mask if this part of the trie lies below its bytes
constexpr uint32_t kFewTokens = 128;  // are found as quickly without a mask
constexpr uint32_t kMostMasks = 512;
constexpr uint64_t kMostWork = 32;      // steps that are walked, times those of the vocabulary
constexpr uint32_t kMostCleared = 512;  // ids taken out of a set of bits instead of keeping another

class MaskMaker {
 public:
  MaskMaker(const Machine& machine, const VocabularyTrie& vocabulary, Allowance& allowance)
      : machine_(machine),
        vocabulary_(vocabulary),
        allowance_(allowance),
        steps_(machine, allowance),
        tokens_(machine, vocabulary, steps_, allowance),
        endings_(machine) {}

  StoredMasks make() {
    // Without one, states that most tokens follow would take milliseconds.
    std::vector<uint32_t> others;
    for (const uint32_t state : nearest_first()) {
      const uint64_t steps = width_of(state);
      if (steps * 2 >= vocabulary_.header->steps) {
        if (has_room()) make_mask(state);
      } else if (steps != 0) {
        others.push_back(state);
      }
    }
    const uint64_t begin = tokens_.steps();
    for (const uint32_t state : others) {
      if (!has_room() || allowance_.is_half_over() ||
          tokens_.steps() - begin > kMostWork * vocabulary_.header->steps)
        break;
      make_mask(state);
    }
    return std::move(out_);
  }

 private:
  bool has_room() const {
    const uint64_t bytes = (out_.bits.size() + out_.list.size()) * sizeof(uint32_t);
    return out_.masks.size() < kMostMasks && bytes <= allowance_.limits().bytes / 4;
  }
  /// Returns the states by how many bytes and calls lead to them, so that those that most answers come by
  /// have masks whatever others there are.
  std::vector<uint32_t> nearest_first() const {
    std::vector<uint32_t> order;
    std::vector<bool> seen(machine_.states.size());
    const auto see = [&](uint32_t state) {
      if (state == kTail || seen[state]) return;
      seen[state] = true;
      order.push_back(state);
    };
    see(machine_.rules[machine_.start].start);
    for (size_t i = 0; i < order.size(); ++i) {
      const MachineState& state = machine_.states[order[i]];
      for (const MachineEdge& edge : state.edges) see(edge.target);
      for (const MachineCall& call : state.calls) {
        see(machine_.rules[call.rule].entry);
        see(call.back);
      }
    }
    return order;
  }
  /// Returns steps of the vocabulary below the bytes that the state goes on with.
  uint64_t edge_steps(const MachineState& state) const {
    uint64_t steps = 0;
    for (const MachineEdge& edge : state.edges)
      steps += vocabulary_.roots[edge.last + 1] - vocabulary_.roots[edge.first];
    return steps;
  }
  bool is_much(uint64_t steps) const { return steps * kWideShare >= vocabulary_.header->steps; }
  /// Returns the number from 1 on of the call that a state's tokens mostly begin with; 0: none.
  uint16_t wide_call(const MachineState& state) {
    for (uint32_t i = 0; i < state.calls.size() && i < UINT16_MAX; ++i) {
      const uint32_t rule = state.calls[i].rule;
      const MachineState& entry = machine_.states[machine_.rules[rule].entry];
      if (is_much(edge_steps(entry)) && (!machine_.rules[rule].counted || !steps_.has_ambiguous_head(rule)))
        return static_cast<uint16_t>(i + 1);
    }
    return 0;
  }
  /// Returns the steps below the state's bytes; 0: it has no mask.
  uint64_t width_of(uint32_t number) {
    const MachineState& state = machine_.states[number];
    const MachineRule& rule = machine_.rules[state.rule];
    const uint16_t call = rule.counted ? uint16_t{0} : wide_call(state);
    uint64_t steps = edge_steps(state);
    if (call != 0) {
      const uint32_t called = state.calls[call - 1u].rule;
      steps += edge_steps(machine_.states[machine_.rules[called].entry]);
    }
    if (!is_much(steps)) return 0;
    // Behind a head the count decides; it must not decide between readings of a byte.
    if (rule.counted && steps_.has_ambiguous_head(state.rule)) return 0;
    return steps;
  }

  void make_mask(uint32_t start) {
    const MachineState& from = machine_.states[start];
    GrammarMask mask = {};
    mask.state = static_cast<uint16_t>(start);
    mask.call = machine_.rules[from.rule].counted ? uint16_t{0} : wide_call(from);
    CertainTokens found = tokens_.of(start, mask.call);
    if (from.free) {
      for (uint32_t i = 0; i < vocabulary_.header->textless; ++i)
        found.add({vocabulary_.textless[i], 0, start, false});
    }
    if (found.count() + found.left_count() < kFewTokens) return;
    found.finish(endings_);
    measure(found, from, mask);
    add_levels(found, mask);
    add_groups(found, mask);
    mask.tries = static_cast<uint32_t>(out_.tries.size());
    for (LeftTokens& left : found.take_left()) add_trie(left);
    mask.trie_count = static_cast<uint32_t>(out_.tries.size()) - mask.tries;
    out_.masks.push_back(mask);
  }

  /// Finds what certain tokens need behind them and how many counts they take, at most.
  void measure(const CertainTokens& found, const MachineState& from, GrammarMask& mask) const {
    const MachineCall* const call = mask.call == 0 ? nullptr : &from.calls[mask.call - 1u];
    const uint64_t behind = call == nullptr || call->back == kTail ? 0 : machine_.states[call->back].need;
    for (const CertainGroup& group : found.groups()) {
      const MachineState& state = machine_.states[group.state];
      const MachineRule& rule = machine_.rules[state.rule];
      uint64_t need = state.need;
      if (group.in_call) need += behind + uint64_t{rule.least} * rule.unit;
      mask.need = std::max(mask.need, static_cast<uint32_t>(std::min<uint64_t>(need, kNoTrieValue)));
    }
    mask.most_count = found.most_counts();
  }

  void add_trie(LeftTokens& left) {
    left.sort();
    TrieBuilder builder;
    for (size_t i = 0; i < left.tokens.size();) {
      const std::string_view text = left.text(i);
      size_t end = i;
      while (end < left.tokens.size() && left.text(end) == text) ++end;
      builder.add(text, static_cast<uint32_t>(out_.list.size()));
      out_.list.push_back(static_cast<uint32_t>(end - i));
      for (; i < end; ++i) out_.list.push_back(left.tokens[i].id | left.tokens[i].before << 24);
    }
    const std::vector<TrieStep> steps = builder.take(nullptr);
    GrammarTrie trie = {};
    trie.state = static_cast<uint16_t>(left.state);
    trie.in_call = left.in_call;
    trie.steps = static_cast<uint32_t>(out_.steps.size());
    trie.step_count = static_cast<uint32_t>(steps.size());
    out_.steps.insert(out_.steps.end(), steps.begin(), steps.end());
    out_.tries.push_back(trie);
  }

  /// Adds a level for each number of counts that some token takes; from the highest down, each is the one
  /// above it without some ids, or a set of bits of its own.
  void add_levels(const CertainTokens& found, GrammarMask& mask) {
    const auto by_counts = found.by_counts();
    std::vector<uint32_t> bits = found.bits();
    std::vector<GrammarLevel> levels;
    std::vector<uint32_t> cleared;
    uint32_t set = 0;
    for (auto counts = by_counts.rbegin(); counts != by_counts.rend(); ++counts) {
      if (levels.empty() || cleared.size() > kMostCleared) {
        for (const uint32_t id : cleared) bits[id / 32] &= ~(1u << id % 32);
        cleared.clear();
        set = set_of(bits, &cleared);
      }
      std::sort(cleared.begin(), cleared.end());
      levels.push_back({counts->first, set, static_cast<uint32_t>(out_.list.size()),
                        static_cast<uint32_t>(cleared.size())});
      out_.list.insert(out_.list.end(), cleared.begin(), cleared.end());
      if (std::next(counts) == by_counts.rend()) break;
      if (counts->second.base != nullptr)
        cleared.insert(cleared.end(), counts->second.base->begin(), counts->second.base->end());
      cleared.insert(cleared.end(), counts->second.ids.begin(), counts->second.ids.end());
      allowance_.work(64 + cleared.size() + bits.size() / 16);
    }
    std::reverse(levels.begin(), levels.end());
    mask.levels = static_cast<uint32_t>(out_.levels.size());
    mask.level_count = static_cast<uint32_t>(levels.size());
    out_.levels.insert(out_.levels.end(), levels.begin(), levels.end());
  }

  /// Returns the number of a set of bits, which is kept once. Where the last one that is kept has little
  /// more, it is taken, and `cleared` gets what it has more.
  uint32_t set_of(const std::vector<uint32_t>& bits, std::vector<uint32_t>* cleared) {
    const size_t last = out_.bits.size() - std::min(out_.bits.size(), bits.size());
    for (size_t word = 0; last + bits.size() == out_.bits.size() && word < bits.size(); ++word) {
      uint32_t more = out_.bits[last + word] & ~bits[word];
      if ((bits[word] & ~out_.bits[last + word]) != 0 || cleared->size() + 32 > kMostCleared) {
        cleared->clear();
        break;
      }
      for (; more != 0; more &= more - 1)
        cleared->push_back(static_cast<uint32_t>(word * 32 + static_cast<size_t>(std::countr_zero(more))));
      if (word + 1 == bits.size()) return out_.sets - 1;
    }
    const uint64_t hash = xxh64(bits.data(), bits.size() * sizeof(uint32_t));
    const auto [at, added] = sets_.try_emplace(hash, out_.sets);
    if (!added && std::equal(bits.begin(), bits.end(),
                             out_.bits.begin() + static_cast<ptrdiff_t>(at->second * bits.size())))
      return at->second;
    out_.bits.insert(out_.bits.end(), bits.begin(), bits.end());
    return out_.sets++;
  }

  void add_groups(const CertainTokens& found, GrammarMask& mask) {
    mask.groups = static_cast<uint32_t>(out_.groups.size());
    mask.group_count = static_cast<uint32_t>(found.groups().size());
    for (const CertainGroup& group : found.groups()) {
      out_.groups.push_back({static_cast<uint16_t>(group.state), group.in_call,
                             static_cast<uint32_t>(out_.list.size()),
                             static_cast<uint32_t>(group.ids.size())});
      out_.list.insert(out_.list.end(), group.ids.begin(), group.ids.end());
    }
  }

  const Machine& machine_;
  const VocabularyTrie& vocabulary_;
  Allowance& allowance_;
  CertainSteps steps_;
  CertainTokenFinder tokens_;
  Endings endings_;
  std::map<uint64_t, uint32_t> sets_;  // by hash
  StoredMasks out_;
};

}  // namespace

StoredMasks stored_masks(const Machine& machine, const VocabularyTrie& vocabulary, Allowance& allowance) {
  return MaskMaker(machine, vocabulary, allowance).make();
}

}  // namespace mote::grammar
