// SPDX-License-Identifier: Apache-2.0
//
// Token ids to text, one at a time.
#pragma once

#include "mote/mote.h"
#include "runtime/text/tokenizer.h"

namespace mote {

/// Bytes that one call below may write.
uint32_t decode_room(const Tokenizer& tokenizer);

/// Writes what token `id`, one that the tokenizer has, adds to the text; returns the bytes. `out` has
/// decode_room() bytes.
uint32_t decode_next(const Tokenizer& tokenizer, mote_detokenizer* state, uint32_t id, uint8_t* out);

/// Writes what is left of a character that broke off.
uint32_t decode_finish(const Tokenizer& tokenizer, mote_detokenizer* state, uint8_t* out);

}  // namespace mote
