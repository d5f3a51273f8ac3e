// SPDX-License-Identifier: Apache-2.0
//
// Text to token ids.
#pragma once

#include "mote/mote.h"
#include "runtime/text/scratch.h"
#include "runtime/text/tokenizer.h"
#include "runtime/text/window.h"

namespace mote {

/// A text that the caller gave, of fewer than 2^32 bytes.
struct Given {
  const uint8_t* data;
  uint32_t bytes;
};

/// The special tokens that were found in a text, in order: equal ones are as many, and the same.
struct SpecialsFound {
  uint32_t count = 0;
  uint64_t order = 0;  // a hash

  void add(uint32_t id) {
    ++count;
    order = (order ^ (id + 1)) * 0x9E3779B97F4A7C15u;
    order ^= order >> 29;
  }
};

/// Where tokens go. Tokens that do not fit are counted only.
struct TokenSink {
  int32_t* ids;            // [capacity]
  mote_span* offsets;      // [capacity] or null
  mote_token_kind* kinds;  // [capacity] or null
  uint32_t capacity;
  uint32_t limit;  // of what is written for now, at most the capacity
  uint32_t written = 0;
  uint32_t count = 0;           // of all tokens
  uint8_t type = 0, text = 0;   // of the tokens that follow
  SpecialsFound specials;       // among all tokens
  uint32_t vocab = UINT32_MAX;  // of the model
  int32_t beyond = -1;          // the first id written that the model does not have, -1: all are its

  /// Forgets the tokens.
  void restart() {
    written = count = 0;
    specials = {};
    beyond = -1;
  }

  TokenSink(int32_t* to_ids, mote_span* to_offsets, mote_token_kind* to_kinds, uint32_t room)
      : ids(to_ids), offsets(to_offsets), kinds(to_kinds), capacity(room), limit(room) {}

  uint32_t skip = 0;  // tokens that come now and are counted only

  void put(uint32_t id, Span span) {
    if (skip != 0) {
      --skip;
    } else if (written < limit) {
      ids[written] = static_cast<int32_t>(id);
      if (id >= vocab && beyond < 0) beyond = ids[written];
      if (offsets != nullptr) offsets[written] = {span.begin, span.end};
      if (kinds != nullptr) kinds[written] = {type, text};
      ++written;
    }
    ++count;
  }
};

/// As mote_tokenize, and with `second` as mote_tokenize_pair, on arguments that are in order and taken
/// scratch. The sink starts empty.
mote_status encode_text(const Tokenizer& tokenizer, const TextScratch& scratch, Given first,
                        const Given* second, uint32_t flags, TokenSink* sink, mote_error* error);

}  // namespace mote
