// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "host/grammar/compile.h"
#include "host/grammar/machine.h"
#include "host/grammar/vocabulary.h"

namespace mote::grammar {

/// The sections of stored masks.
struct StoredMasks {
  std::vector<GrammarMask> masks;
  std::vector<GrammarLevel> levels;
  std::vector<GrammarTrie> tries;
  std::vector<GrammarGroup> groups;
  std::vector<TrieStep> steps;
  std::vector<uint32_t> list, bits;
  uint32_t sets = 0;
};

/// Makes masks for the states that most tokens may follow, as far as those tokens do not look above the rule
/// on the stack.
StoredMasks stored_masks(const Machine& machine, const VocabularyTrie& vocabulary, Allowance& allowance);

}  // namespace mote::grammar
