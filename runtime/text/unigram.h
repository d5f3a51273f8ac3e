// SPDX-License-Identifier: Apache-2.0
//
// Unigram segmentation of one word.
#pragma once

#include "runtime/text/scratch.h"
#include "runtime/text/tokenizer.h"

namespace mote {

/// In place of an id: characters that are no pieces.
inline constexpr uint32_t kUnknownCharacters = UINT32_MAX;

/// Turns the slots [begin, end), at least one, into symbols: `scratch.id` and `scratch.length` at the first
/// slot of each. Linear in the word, times the longest piece.
void encode_unigram(const Tokenizer& tokenizer, const TextScratch& scratch, uint32_t begin, uint32_t end);

}  // namespace mote
