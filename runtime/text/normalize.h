// SPDX-License-Identifier: Apache-2.0
//
// Normalization of a part of a text, step by step as the file lists them.
#pragma once

#include "runtime/text/scratch.h"
#include "runtime/text/tokenizer.h"

namespace mote {

/// Characters and where each comes from. The five arrays are the merge loop's: a part is normalized between
/// words.
struct NormalText {
  uint32_t *code_point, *origin;            // [room], `count` in use
  uint32_t *made_code_point, *made_origin;  // [room] what a step makes of them
  int32_t* change;                          // [room] and how, as below
  uint32_t count, room;
};

inline NormalText normal_text(const TextScratch& scratch) {
  return {scratch.id, scratch.length, scratch.rank, scratch.heap, reinterpret_cast<int32_t*>(scratch.where),
          0,          scratch.slots};
}

struct NormalPart {
  bool first, last;  // of the text
};

/// Normalizes `text` in place. False if a step makes more than there is room for; `text` is void then.
/// `late` is what Hugging Face's offsets are late by afterwards, in characters: its precompiled maps forget
/// about characters that they drop at the start of a text.
bool normalize(const Tokenizer& tokenizer, NormalPart part, NormalText* text, uint32_t* late);

}  // namespace mote
