// SPDX-License-Identifier: Apache-2.0
//
// Byte pair encoding of one word.
#pragma once

#include "runtime/text/scratch.h"
#include "runtime/text/tokenizer.h"

namespace mote {

/// Turns the slots [begin, end), at least one, into symbols: `scratch.id` and `scratch.length` at the first
/// slot of each. Returns the slot where the first symbol starts (`end` if the word has none). Time n log n.
uint32_t encode_bpe(const Tokenizer& tokenizer, const TextScratch& scratch, uint32_t begin, uint32_t end);

}  // namespace mote
