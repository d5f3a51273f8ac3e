// SPDX-License-Identifier: Apache-2.0
//
// Walks of a vocabulary's tokens that stay in a few states which lead to each other, as the characters of a
// string do. Most of what a mask holds is such a walk, and most schemas share it, so a vocabulary keeps its
// walks by what those states do.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "host/grammar/certain_steps.h"
#include "host/grammar/vocabulary.h"

namespace mote::grammar {

/// The states that lead to each other and to where they are entered, which is number 0.
struct Home {
  static constexpr uint16_t kAway = UINT16_MAX;

  struct Place {
    std::array<uint16_t, 256> next;  // kAway: a byte that leaves them or has to be tried
    bool head = false;
  };
  std::vector<Place> places;
  bool counted = false;
};

/// The walk of a vocabulary over a home, in the order of the trie's steps.
struct HomeWalk {
  struct Token {
    uint32_t step, id, counts;
    uint16_t place;  // where it ends
  };
  struct Exit {
    uint32_t step, counts;  // before the step's byte
    uint16_t place;         // where the byte leaves
  };

  std::vector<Token> tokens;
  std::vector<Exit> exits;
  std::vector<uint32_t> bits;                           // of all tokens
  std::vector<uint32_t> elsewhere;                      // numbers of tokens that do not end at place 0
  std::map<uint32_t, std::vector<uint32_t>> by_counts;  // ids of tokens
};

HomeWalk walk_home(const Home& home, const VocabularyTrie& vocabulary);

/// Homes that walks are known of. Calls may come from several threads.
class HomeWalks {
 public:
  std::shared_ptr<const HomeWalk> of(const Home& home, const VocabularyTrie& vocabulary);

 private:
  std::mutex mutex_;
  std::map<std::vector<uint16_t>, std::shared_ptr<const HomeWalk>> known_;
  size_t bytes_ = 0;
};

}  // namespace mote::grammar
