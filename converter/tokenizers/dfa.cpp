// SPDX-License-Identifier: Apache-2.0
//
// Thompson's construction, then subsets (Cox 2010, "Regular Expression Matching in the Wild"). A state is the
// list of a backtracking matcher's open attempts in the order in which it would try them; what stands behind
// a match in the list is dropped, since it would never be tried. The transition over the character that
// follows a place decides whether a match ends there: by then a look-ahead for that character is known to
// hold or not, which is how `\s+(?!\S)` gives back the last space before a word.
#include "converter/tokenizers/dfa.h"

#include <algorithm>
#include <bitset>
#include <map>
#include <set>

#include "host/base/error.h"
#include "host/base/work_budget.h"

namespace mote::convert {
namespace {

constexpr size_t kMaxStates = 8192;
constexpr size_t kMaxInstructions = 1 << 16;
constexpr uint32_t kMaxClasses = 256;

void collect_sets(const RegexPtr& regex, std::set<CharSet>& sets) {
  const bool has_set = regex->kind == Regex::Kind::characters || regex->kind == Regex::Kind::not_ahead;
  if (has_set) {
    charge_work(1 + regex->set.ranges().size());
    sets.insert(regex->set);
  }
  for (const RegexPtr& part : regex->parts) collect_sets(part, sets);
}

struct Instruction {
  enum class Kind { character, not_ahead, fork, match };
  Kind kind;
  const CharSet* set = nullptr;
  uint32_t next = 0, other = 0;  // a fork tries `next` first
};

/// Steps that compiling an instruction, closing over forks and keeping lists of states are charged.
constexpr uint64_t kCompileSteps = 8, kListSteps = 2;

class Program {
 public:
  explicit Program(const RegexPtr& regex) {
    compile(regex);
    add({Instruction::Kind::match});
  }
  const Instruction& operator[](uint32_t at) const { return code_[at]; }
  uint32_t size() const { return static_cast<uint32_t>(code_.size()); }

 private:
  uint32_t add(Instruction instruction) {
    if (code_.size() >= kMaxInstructions) fail("a pre-tokenizer's regular expression is too long");
    instruction.next = size() + 1;
    code_.push_back(instruction);
    return size() - 1;
  }

  void compile(const RegexPtr& regex) {
    charge_work(kCompileSteps);  // an empty part makes no instruction
    switch (regex->kind) {
      case Regex::Kind::characters:
        add({Instruction::Kind::character, &regex->set});
        break;
      case Regex::Kind::not_ahead:
        add({Instruction::Kind::not_ahead, &regex->set});
        break;
      case Regex::Kind::sequence:
        for (const RegexPtr& part : regex->parts) compile(part);
        break;
      case Regex::Kind::choice:
        compile_choice(regex->parts);
        break;
      case Regex::Kind::repeat:
        compile_repeat(*regex);
        break;
    }
  }

  void compile_choice(const std::vector<RegexPtr>& parts) {
    std::vector<uint32_t> jumps;
    for (size_t i = 0; i + 1 < parts.size(); ++i) {
      const uint32_t fork = add({Instruction::Kind::fork});
      compile(parts[i]);
      jumps.push_back(add({Instruction::Kind::fork}));
      code_[fork].other = size();
    }
    compile(parts.back());
    for (const uint32_t jump : jumps) code_[jump].next = code_[jump].other = size();
  }

  void compile_repeat(const Regex& regex) {
    for (uint32_t i = 0; i < regex.least; ++i) compile(regex.parts.front());
    if (regex.most == Regex::kUnlimited) {
      const uint32_t fork = add({Instruction::Kind::fork});
      compile(regex.parts.front());
      const uint32_t back = add({Instruction::Kind::fork});
      code_[back].next = code_[back].other = fork;
      code_[fork].other = size();
      return;
    }
    std::vector<uint32_t> forks;
    for (uint32_t i = regex.least; i < regex.most; ++i) {
      forks.push_back(add({Instruction::Kind::fork}));
      compile(regex.parts.front());
    }
    for (const uint32_t fork : forks) code_[fork].other = size();
  }

  std::vector<Instruction> code_;
};

class Builder {
 public:
  Builder(const RegexPtr& regex, const CharClasses& classes) : program_(regex), classes_(classes) {
    std::map<const CharSet*, uint32_t> known;
    for (uint32_t at = 0; at < program_.size(); ++at) {
      const CharSet* set = program_[at].set;
      const auto [found, added] = known.try_emplace(set, static_cast<uint32_t>(members_.size()));
      set_of_.push_back(found->second);
      if (!added) continue;
      charge_work(classes.count());
      std::bitset<kMaxClasses>& members = members_.emplace_back();
      for (uint32_t c = 0; c < classes.count() && set != nullptr; ++c)
        members[c] = set->has(classes.representative(c));
    }
  }

  Dfa build() {
    state_of({});  // dead
    lists_.push_back(closure({0}));
    Dfa dfa;
    for (uint32_t state = 0; state < lists_.size(); ++state) {
      for (uint32_t c = 0; c <= classes_.count(); ++c) {
        const uint16_t transition = step(state, c == classes_.count() ? kAtEnd : c);
        if (state == kDfaStart && (transition & kDfaMatch) != 0) {
          fail("a pre-tokenizer's regular expression matches the empty text");
        }
        dfa.transitions.push_back(transition);
      }
    }
    dfa.states = static_cast<uint32_t>(lists_.size());
    return dfa;
  }

 private:
  using List = std::vector<uint32_t>;
  static constexpr uint32_t kAtEnd = UINT32_MAX;

  /// Returns whether the instruction's set has the class.
  bool has(uint32_t at, uint32_t character_class) const { return members_[set_of_[at]][character_class]; }

  /// The instructions, forks followed, that the given ones lead to, in order and up to the first match.
  List closure(const List& from) const {
    List result;
    charge_work(program_.size() / 64 + from.size());
    std::vector<bool> seen(program_.size());
    List stack(from.rbegin(), from.rend());
    while (!stack.empty()) {
      const uint32_t at = stack.back();
      stack.pop_back();
      charge_work(1);
      if (seen[at]) continue;
      seen[at] = true;
      const Instruction& instruction = program_[at];
      if (instruction.kind == Instruction::Kind::fork) {
        stack.push_back(instruction.other);
        stack.push_back(instruction.next);
        continue;
      }
      result.push_back(at);
      if (instruction.kind == Instruction::Kind::match) break;
    }
    return result;
  }

  uint16_t step(uint32_t state, uint32_t next) {
    // Look-aheads that hold are passed, those that do not end their attempt.
    charge_work(kListSteps + lists_[state].size());
    List passed = lists_[state];
    for (bool changed = true; changed;) {
      changed = false;
      List resolved;
      for (const uint32_t at : passed) {
        const Instruction& instruction = program_[at];
        if (instruction.kind != Instruction::Kind::not_ahead) {
          resolved.push_back(at);
        } else if (next == kAtEnd || !has(at, next)) {
          resolved.push_back(instruction.next);
          changed = true;
        }
      }
      passed = closure(resolved);
    }
    List reached;
    bool matched = false;
    for (const uint32_t at : passed) {
      const Instruction& instruction = program_[at];
      if (instruction.kind == Instruction::Kind::match) {
        matched = true;
      } else if (next != kAtEnd && has(at, next)) {
        reached.push_back(instruction.next);
      }
    }
    const uint16_t target = state_of(closure(reached));
    return matched ? static_cast<uint16_t>(target | kDfaMatch) : target;
  }

  uint16_t state_of(const List& list) {
    charge_work(kListSteps * list.size());
    const auto [found, added] = states_.try_emplace(list, static_cast<uint16_t>(lists_.size()));
    if (added) {
      if (lists_.size() >= kMaxStates) fail("a pre-tokenizer's regular expression takes too many states");
      lists_.push_back(list);
    }
    return found->second;
  }

  Program program_;
  const CharClasses& classes_;
  std::vector<std::bitset<kMaxClasses>> members_;  // the classes of each set
  std::vector<uint32_t> set_of_;                   // of each instruction
  std::vector<List> lists_;                        // by state
  std::map<List, uint16_t> states_;
};

/// The class of each code point, numbered in the order of their first ones: those that are in the same sets
/// share one. Classes are looked up only where a range of one of the sets begins or ends.
std::vector<uint32_t> tell_apart(const std::set<CharSet>& sets) {
  std::vector<std::pair<uint32_t, uint32_t>> changes;  // code points, and the sets that they enter or leave
  uint32_t number = 0;
  for (const CharSet& set : sets) {
    for (const CharSet::Range& range : set.ranges()) {
      changes.emplace_back(range.first, number);
      changes.emplace_back(range.last + 1, number);
    }
    ++number;
  }
  charge_work(4 * changes.size());
  std::sort(changes.begin(), changes.end());
  std::map<std::vector<bool>, uint32_t> classes;  // by membership
  std::vector<bool> membership(sets.size());
  std::vector<uint32_t> class_of(kCodePoints);
  size_t at = 0;
  for (uint32_t c = 0; c < kCodePoints;) {
    for (; at < changes.size() && changes[at].first == c; ++at)
      membership[changes[at].second] = !membership[changes[at].second];
    charge_work(4 + sets.size() / 8);
    const auto current = classes.try_emplace(membership, static_cast<uint32_t>(classes.size())).first->second;
    if (current >= kMaxClasses)
      fail("the pre-tokenizers tell more than {} kinds of characters apart", kMaxClasses);
    const uint32_t next = at < changes.size() ? std::min(changes[at].first, kCodePoints) : kCodePoints;
    std::fill(class_of.begin() + c, class_of.begin() + next, current);
    c = next;
  }
  return class_of;
}

}  // namespace

CharClasses::CharClasses(const std::vector<RegexPtr>& expressions, const Cuts& cuts) : cuts_(cuts) {
  std::set<CharSet> sets = {space_set(), word_set(), cuts.opens, cuts.closes};
  for (const RegexPtr& expression : expressions) collect_sets(expression, sets);
  const std::vector<uint32_t> class_of = tell_apart(sets);
  for (uint32_t c = 0; c < kCodePoints; ++c)
    if (c == 0 || class_of[c] != class_of[c - 1]) ranges.push_back(c << kRangeClassBits | class_of[c]);
  std::map<std::array<uint8_t, kClassBlockSize>, uint16_t> known;
  for (uint32_t begin = 0; begin < kCodePoints; begin += kClassBlockSize) {
    std::array<uint8_t, kClassBlockSize> block;
    for (uint32_t i = 0; i < kClassBlockSize; ++i) {
      block[i] = static_cast<uint8_t>(class_of[begin + i]);
      if (class_of[begin + i] == representatives_.size()) representatives_.push_back(begin + i);
    }
    const auto [found, added] = known.try_emplace(block, static_cast<uint16_t>(known.size()));
    if (added) table.insert(table.end(), block.begin(), block.end());
    blocks.push_back(found->second);
  }
}

std::vector<uint8_t> CharClasses::flags() const {
  const CharSet space = space_set(), word = word_set();
  std::vector<uint8_t> flags;
  for (const uint32_t c : representatives_) {
    flags.push_back(static_cast<uint8_t>((space.has(c) ? kClassSpace : 0) | (word.has(c) ? kClassWord : 0) |
                                         (cuts_.opens.has(c) ? kClassOpens : 0) |
                                         (cuts_.closes.has(c) ? kClassCloses : 0)));
  }
  return flags;
}

Dfa build_dfa(const RegexPtr& regex, const CharClasses& classes) { return Builder(regex, classes).build(); }

}  // namespace mote::convert
