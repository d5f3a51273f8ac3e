// SPDX-License-Identifier: Apache-2.0
//
// From the left the longest piece that is in the vocabulary (Wu et al. 2016, as BERT's code has it): the
// first from the trie's root, the others from where "##" leads. A word in which some place has no piece is
// unknown as a whole, and so is one of too many characters.
#include "runtime/text/wordpiece.h"

#include "runtime/text/trie.h"
#include "runtime/text/utf8.h"

namespace mote {
namespace {

bool is_long(const Tokenizer& t, const uint8_t* text, uint32_t begin, uint32_t end) {
  uint32_t characters = 0;
  for (uint32_t at = begin; at < end && characters <= t.word_characters; ++at) {
    if (!utf8_continues(text[at])) ++characters;
  }
  return characters > t.word_characters;
}

/// False if some place has no piece.
bool find_pieces(const Tokenizer& t, const TextScratch& s, uint32_t begin, uint32_t end) {
  for (uint32_t at = begin; at < end;) {
    const uint32_t start = at == begin ? 0 : t.continuing_node;
    if (start == kNoNode) return false;
    const TrieNode* node = &t.pieces[start];
    uint32_t piece_end = at;
    for (uint32_t next = at; next < end && node != nullptr;) {
      node = trie_child(t.pieces, *node, s.text[next++]);
      if (node == nullptr || node->added < 0 || !t.may_be_word(static_cast<uint32_t>(node->added))) continue;
      s.id[at] = static_cast<uint32_t>(node->added);
      piece_end = next;
    }
    if (piece_end == at) return false;
    s.length[at] = piece_end - at;
    at = piece_end;
  }
  return true;
}

}  // namespace

void encode_wordpiece(const Tokenizer& tokenizer, const TextScratch& scratch, uint32_t begin, uint32_t end) {
  if (!is_long(tokenizer, scratch.text, begin, end) && find_pieces(tokenizer, scratch, begin, end)) return;
  scratch.id[begin] = static_cast<uint32_t>(tokenizer.unknown_id);
  scratch.length[begin] = end - begin;
}

}  // namespace mote
