// SPDX-License-Identifier: Apache-2.0
//
// Steps through a trie of schema/text_formats.h.
#pragma once

#include "runtime/text/tokenizer.h"

namespace mote {

/// The child of `node` that `byte` leads to, null if there is none.
inline const TrieNode* trie_child(const Table<TrieNode>& trie, const TrieNode& node, uint8_t byte) {
  uint32_t low = node.first_child;
  const uint32_t end = low + node.children;
  for (uint32_t high = end; low < high;) {
    const uint32_t middle = low + (high - low) / 2;
    if (trie[middle].byte < byte) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low < end && trie[low].byte == byte ? &trie[low] : nullptr;
}

}  // namespace mote
