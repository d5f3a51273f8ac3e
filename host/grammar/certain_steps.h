// SPDX-License-Identifier: Apache-2.0
//
// Bytes that have one reading each. A step of a state by a byte is certain where there is a transition by it,
// no call that may begin with it, and no end of the rule behind which it may come.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "host/grammar/compile.h"
#include "host/grammar/machine.h"

namespace mote::grammar {

class CertainSteps {
 public:
  using Row = std::array<uint32_t, 256>;

  CertainSteps(const Machine& machine, Allowance& allowance);

  /// Returns, for each byte, the one state behind it; 0: the byte cannot be read; kTail: it has to be tried.
  const Row& of(uint32_t state);
  /// Returns whether the byte may follow the rule.
  bool follows(uint32_t rule, uint32_t byte) const {
    return (follows_[rule][byte / 32] >> byte % 32 & 1) != 0;
  }
  /// Returns whether both states lead to each other by bytes alone.
  bool is_together(uint32_t a, uint32_t b) const { return component_[a] == component_[b]; }
  /// Returns whether a count of the rule may decide between readings of a byte.
  bool has_ambiguous_head(uint32_t rule);

 private:
  using ByteSet = std::array<uint32_t, 8>;

  void find_follows();
  void find_components();
  bool find_ambiguous_head(uint32_t rule) const;

  const Machine& machine_;
  Allowance& allowance_;
  std::vector<ByteSet> follows_;
  std::vector<uint32_t> component_;
  std::vector<std::unique_ptr<Row>> rows_;
  std::vector<int8_t> ambiguous_;  // by rule; -1: not known
};

}  // namespace mote::grammar
