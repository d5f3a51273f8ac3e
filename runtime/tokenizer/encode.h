// SPDX-License-Identifier: Apache-2.0
//
// Text to token ids.
#pragma once

#include "mote/mote.h"
#include "runtime/tokenizer/scratch.h"
#include "runtime/tokenizer/tokenizer.h"

namespace mote {

/// As mote_tokenize, on arguments that are in order: `text` of `bytes` below 2^32, scratch taken, `ids` (and
/// `offsets`, unless null) of `capacity`.
mote_status encode_text(const Tokenizer& tokenizer, const TextScratch& scratch, const uint8_t* text,
                        uint32_t bytes, uint32_t flags, int32_t* ids, mote_span* offsets, uint32_t capacity,
                        uint32_t* count, mote_error* error);

}  // namespace mote
