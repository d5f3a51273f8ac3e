// SPDX-License-Identifier: Apache-2.0
//
// The memory that tokenizing needs besides the tables, in the session's arena: a window onto the normalized
// text and the lists of the merge loop, the lattice or, between words, normalization. A slot is a byte of a
// word.
#pragma once

#include <stdint.h>

#include "runtime/exec/arena.h"
#include "schema/text_formats.h"

namespace mote {

struct TextScratch {
  uint32_t slots;

  uint8_t* text;          // [slots] normalized
  uint32_t* origin;       // [slots] where the character that a byte came from starts in the given text
  uint8_t* origin_bytes;  // [slots] and its length there

  uint32_t* id;      // [slots] of the symbol that starts at a slot
  uint32_t* length;  // [slots] of a symbol in slots, at its first and at its last slot
  uint32_t* rank;    // [slots] of the merge of the symbol at a slot with the next
  uint32_t* heap;    // [slots] starts of mergeable symbols, the best first
  uint32_t* where;   // [slots] a symbol's index in the heap
  double* score;     // [slots] in place of rank and heap: of the best way to a slot
};

/// Room for a text behind a prompt, of models that have prompts; else none.
struct PromptRoom {
  char* text;
  size_t bytes;
};

/// Slots before the text: a prefix is put before a piece in place of consumed text, or here.
inline constexpr uint32_t kWindowHeadroom = 2 * kMaxPrefixBytes;

/// Takes scratch for words of `text_bytes` bytes; 0 takes nothing.
inline TextScratch take_text_scratch(Arena* arena, uint32_t text_bytes) {
  TextScratch scratch{};
  if (text_bytes == 0) return scratch;
  const uint64_t slots = uint64_t{text_bytes} + kWindowHeadroom + kMaxReplacementBytes;
  scratch.slots = static_cast<uint32_t>(slots);
  scratch.text = arena->take<uint8_t>(slots);
  scratch.origin = arena->take<uint32_t>(slots);
  scratch.origin_bytes = arena->take<uint8_t>(slots);
  scratch.id = arena->take<uint32_t>(slots);
  scratch.length = arena->take<uint32_t>(slots);
  scratch.score = arena->take<double>(slots);
  scratch.rank = reinterpret_cast<uint32_t*>(scratch.score);
  scratch.heap = scratch.rank == nullptr ? nullptr : scratch.rank + slots;  // null while counting
  scratch.where = arena->take<uint32_t>(slots);
  return scratch;
}

}  // namespace mote
