// SPDX-License-Identifier: Apache-2.0
#include "host/grammar/home_walks.h"

#include <algorithm>

namespace mote::grammar {
namespace {

constexpr size_t kMostKept = 64u << 20;  // bytes of walks

/// Returns a text that two homes have in common where all walks over them are the same.
std::vector<uint16_t> signature_of(const Home& home) {
  std::vector<uint16_t> signature = {home.counted};
  for (const Home::Place& place : home.places) {
    signature.push_back(place.head);
    for (uint32_t byte = 0; byte < 256;) {
      uint32_t end = byte + 1;
      while (end < 256 && place.next[end] == place.next[byte]) ++end;
      signature.push_back(static_cast<uint16_t>(end));
      signature.push_back(place.next[byte]);
      byte = end;
    }
  }
  return signature;
}

size_t bytes_of(const HomeWalk& walk) {
  return walk.tokens.size() * (sizeof(HomeWalk::Token) + sizeof(uint32_t)) +
         walk.exits.size() * sizeof(HomeWalk::Exit) + walk.bits.size() * sizeof(uint32_t);
}

}  // namespace

HomeWalk walk_home(const Home& home, const VocabularyTrie& vocabulary) {
  struct At {
    uint32_t counts;
    uint16_t place;
  };
  HomeWalk walk;
  walk.bits.resize((vocabulary.header->vocab + 31) / 32);
  At path[kMaxTokenBytes + 1];
  path[0] = {0, 0};
  for (uint32_t i = 0; i < vocabulary.header->steps;) {
    const TrieStep& step = vocabulary.steps[i];
    const At above = path[step.depth - 1];
    const uint16_t to = home.places[above.place].next[step.byte];
    if (to == Home::kAway) {
      walk.exits.push_back({i, above.counts, above.place});
      i += step.size;
      continue;
    }
    const bool head = home.places[to].head;
    path[step.depth] = {above.counts + (head ? 1 : 0), to};
    if (step.value != kNoTrieValue) {
      const auto number = static_cast<uint32_t>(walk.tokens.size());
      const uint32_t counts = path[step.depth].counts + (home.counted && !head ? 1 : 0);
      walk.tokens.push_back({i, step.value, counts, to});
      walk.bits[step.value / 32] |= 1u << step.value % 32;
      if (to != 0) walk.elsewhere.push_back(number);
      walk.by_counts[counts].push_back(step.value);
    }
    ++i;
  }
  return walk;
}

std::shared_ptr<const HomeWalk> HomeWalks::of(const Home& home, const VocabularyTrie& vocabulary) {
  std::vector<uint16_t> signature = signature_of(home);
  const std::lock_guard lock(mutex_);
  const auto known = known_.find(signature);
  if (known != known_.end()) return known->second;
  auto walk = std::make_shared<const HomeWalk>(walk_home(home, vocabulary));
  if (bytes_ > kMostKept) {
    known_.clear();
    bytes_ = 0;
  }
  bytes_ += bytes_of(*walk);
  known_.emplace(std::move(signature), walk);
  return walk;
}

}  // namespace mote::grammar
