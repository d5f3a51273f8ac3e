// SPDX-License-Identifier: Apache-2.0
//
// Finds added tokens ("<|im_start|>") in a text: the leftmost, the longest among those that start there.
#pragma once

#include "runtime/text/tokenizer.h"

namespace mote {

struct AddedMatch {
  uint32_t begin, end;  // with the white space that it takes
  int32_t id;           // -1: none found
};

struct AddedSearch {
  const Table<TrieNode>* trie;
  bool special;  // whether special ones count
  const uint8_t* text;
  uint32_t context;  // where the text starts that a word before a match may reach back to
  uint32_t floor;    // no match takes white space before it
  uint32_t end;
};

/// The first match that starts in [from, until).
AddedMatch find_added(const Tokenizer& tokenizer, const AddedSearch& search, uint32_t from, uint32_t until);

/// The start of the white space that ends at `end`, not before `floor`.
uint32_t skip_space_back(const Tokenizer& tokenizer, const uint8_t* text, uint32_t floor, uint32_t end);

}  // namespace mote
