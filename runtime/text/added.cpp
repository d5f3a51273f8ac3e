// SPDX-License-Identifier: Apache-2.0
#include "runtime/text/added.h"

#include "runtime/text/trie.h"
#include "runtime/text/utf8.h"

namespace mote {
namespace {

uint8_t flags_of(const Tokenizer& t, uint32_t code_point) { return t.class_flags[t.class_of(code_point)]; }

/// The start of the character that ends at `end`.
uint32_t step_back(const uint8_t* text, uint32_t floor, uint32_t end) {
  uint32_t at = end - 1;
  while (at > floor && end - at < 4 && utf8_continues(text[at])) --at;
  return at;
}

bool is_single_word(const Tokenizer& t, const AddedSearch& search, uint32_t begin, uint32_t end) {
  if (begin > search.context) {
    const uint32_t before = step_back(search.text, search.context, begin);
    const uint32_t code_point = utf8_decode(search.text + before, search.text + begin).code_point;
    if ((flags_of(t, code_point) & kClassWord) != 0) return false;
  }
  if (end == search.end) return true;
  const uint32_t code_point = utf8_decode(search.text + end, search.text + search.end).code_point;
  return (flags_of(t, code_point) & kClassWord) == 0;
}

}  // namespace

uint32_t skip_space_back(const Tokenizer& tokenizer, const uint8_t* text, uint32_t floor, uint32_t end) {
  while (end > floor) {
    const uint32_t at = step_back(text, floor, end);
    if ((flags_of(tokenizer, utf8_decode(text + at, text + end).code_point) & kClassSpace) == 0) break;
    end = at;
  }
  return end;
}

AddedMatch find_added(const Tokenizer& tokenizer, const AddedSearch& search, uint32_t from, uint32_t until) {
  const Table<TrieNode>& trie = *search.trie;
  if (trie.count == 0) return {0, 0, -1};
  for (uint32_t begin = from; begin < until; ++begin) {
    int32_t found = -1;
    uint32_t end = begin;
    const TrieNode* node = &trie[0];
    for (uint32_t at = begin; at < search.end; ++at) {
      node = trie_child(trie, *node, search.text[at]);
      if (node == nullptr) break;
      if (node->added >= 0) {
        found = node->added;
        end = at + 1;
      }
    }
    if (found < 0) continue;
    const AddedToken& token = tokenizer.added[static_cast<uint32_t>(found)];
    const bool unwanted =
        ((token.flags & kAddedSpecial) != 0 && !search.special) ||
        ((token.flags & kAddedAtStart) != 0 && begin != search.context) ||
        ((token.flags & kAddedSingleWord) != 0 && !is_single_word(tokenizer, search, begin, end));
    if (unwanted) {
      begin = end - 1;  // Hugging Face goes on behind a match that it refuses
      continue;
    }
    if ((token.flags & kAddedLeftStrip) != 0) {
      begin = skip_space_back(tokenizer, search.text, search.floor, begin);
    }
    while ((token.flags & kAddedRightStrip) != 0 && end < search.end) {
      const Utf8Character next = utf8_decode(search.text + end, search.text + search.end);
      if ((flags_of(tokenizer, next.code_point) & kClassSpace) == 0) break;
      end += next.bytes;
    }
    return {begin, end, token.id};
  }
  return {0, 0, -1};
}

}  // namespace mote
