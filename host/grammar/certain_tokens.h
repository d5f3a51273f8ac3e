// SPDX-License-Identifier: Apache-2.0
//
// Tokens that are certain from a state, and what is left of those that stop being certain.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "host/grammar/home_walks.h"

namespace mote::grammar {

struct CertainToken {
  uint32_t id, counts, state;
  bool in_call;  // the state is one of the rule that the mask's call calls
};

/// Tells states apart by the shortest ending of their rule, where no count asks for more.
class Endings {
 public:
  explicit Endings(const Machine& machine) : machine_(machine), numbers_(machine.states.size()) {}
  /// Returns a number that states with the same ending have in common.
  uint32_t of(uint32_t state);

 private:
  const Machine& machine_;
  std::vector<uint32_t> numbers_;  // 0: not known
  std::map<std::array<uint32_t, 4>, uint32_t> known_;
};

/// Certain tokens that end in states with one ending; of the first group none are listed.
struct CertainGroup {
  uint32_t state;
  bool in_call;
  std::vector<uint32_t> ids;
};

/// Tokens that are certain up to a state, by what is left of them.
struct LeftTokens {
  struct Token {
    uint32_t offset, bytes, id, before;  // counts before
  };

  uint32_t state;
  bool in_call;
  std::string texts;
  std::vector<Token> tokens;

  std::string_view text(size_t i) const {
    return std::string_view(texts).substr(tokens[i].offset, tokens[i].bytes);
  }
  void sort();
};

/// Holds the tokens found from one state: a walk over a home, without parts of it, and tokens beside.
class CertainTokens {
 public:
  struct Base {
    std::shared_ptr<const HomeWalk> walk;
    std::vector<uint32_t> states;  // of the home's places
    bool in_call = false, counted = false;
    uint32_t most = UINT32_MAX;                        // counts; tokens of more are none
    std::vector<std::pair<uint32_t, uint32_t>> holes;  // steps that are left out, ascending
  };

  explicit CertainTokens(size_t words) : words_(words) {}

  void set_base(Base base) { base_ = std::move(base); }
  void add(const CertainToken& token) { tokens_.push_back(token); }
  LeftTokens& left(uint32_t state, bool in_call);
  /// Sorts what was added into groups. Comes before what follows.
  void finish(Endings& endings);

  size_t count() const { return tokens_.size() + (base_ ? base_->walk->tokens.size() : 0); }
  size_t left_count() const;
  uint32_t most_counts() const { return most_counts_; }
  const std::vector<CertainGroup>& groups() const { return groups_; }
  std::vector<uint32_t> bits() const;
  /// Ids that take so many counts: those of the base, unless it is null, and others.
  struct Counted {
    const std::vector<uint32_t>* base = nullptr;
    std::vector<uint32_t> ids;
  };
  /// Returns ids by their counts; without ids where all of them take 0.
  std::map<uint32_t, Counted> by_counts() const;
  std::vector<LeftTokens>& take_left() { return left_; }

 private:
  bool is_out(const HomeWalk::Token& token) const;

  size_t words_;
  std::optional<Base> base_;
  std::vector<CertainToken> tokens_;
  std::vector<LeftTokens> left_;
  std::vector<CertainGroup> groups_;
  uint32_t most_counts_ = 0;
};

class CertainTokenFinder {
 public:
  CertainTokenFinder(const Machine& machine, const VocabularyTrie& vocabulary, CertainSteps& steps,
                     Allowance& allowance);

  /// Finds the tokens of a state; some begin with its call number `call`, from 1 on, unless that is 0.
  CertainTokens of(uint32_t state, uint16_t call);
  /// Returns how many steps of the vocabulary were walked.
  uint64_t steps() const { return walked_; }

 private:
  struct At {
    uint32_t state, counts;
    bool in_call;
  };
  /// A home and its walk, as the machine has them.
  struct KnownHome {
    Home home;
    std::vector<uint32_t> states;
    std::shared_ptr<const HomeWalk> walk;
  };

  const KnownHome* home_of(uint32_t state);
  std::pair<uint32_t, bool> first_step(uint32_t byte);
  uint32_t step_in_call(uint32_t byte);
  bool walk_whole();
  void walk_range(uint32_t begin, uint32_t end);
  bool splice(uint32_t step, const At& at);
  void leave(const KnownHome& home, const HomeWalk::Exit& exit, uint32_t counts, bool in_call);
  void add_left(uint32_t top, const At& above);
  bool may_end_in(const At& at) const;

  const Machine& machine_;
  const VocabularyTrie& vocabulary_;
  CertainSteps& steps_;
  Allowance& allowance_;
  std::map<uint32_t, std::optional<KnownHome>> homes_;

  uint32_t start_ = 0;
  uint16_t call_ = 0;
  uint64_t walked_ = 0;
  std::vector<At> path_;
  bool splices_ = true;
  uint8_t bytes_[kMaxTokenBytes + 1];
  CertainTokens found_;
};

}  // namespace mote::grammar
