// SPDX-License-Identifier: Apache-2.0
//
// A window onto the normalized form of a text. It is filled from the given text as words are consumed, so
// that a text of any length takes memory for its longest word only.
//
//   slots   | headroom | consumed | begin ... end | free |
#pragma once

#include "runtime/tokenizer/scratch.h"
#include "runtime/tokenizer/tokenizer.h"

namespace mote {

/// Bytes [begin, end) of the text that the caller gave.
struct Span {
  uint32_t begin, end;
};

class Window {
 public:
  Window(const Tokenizer& tokenizer, const TextScratch& scratch, const uint8_t* text)
      : tokenizer_(tokenizer), scratch_(scratch), given_(text) {}

  /// Starts with bytes [begin, end) of the given text, begin < end, and the segment prefix.
  void start(uint32_t begin, uint32_t end);

  /// Moves the text to the front and normalizes as much more as fits. False if nothing was added: the text is
  /// complete or the window full.
  bool fill();

  /// Whether all of the text is in the window.
  bool complete() const { return next_ == given_end_; }

  /// Puts the piece prefix before the text if its rule says so.
  void put_piece_prefix();

  /// Positions are slots.
  uint32_t begin() const { return begin_; }
  uint32_t end() const { return end_; }
  void consume_to(uint32_t slot) { begin_ = slot; }
  const uint8_t* text() const { return scratch_.text; }

  /// What the slots [begin, end), at least one, came from.
  Span origin(uint32_t begin, uint32_t end) const {
    const uint32_t last = end - 1;
    return {scratch_.origin[begin], scratch_.origin[last] + scratch_.origin_bytes[last]};
  }

 private:
  void append(Table<uint8_t> bytes, uint32_t origin, uint32_t origin_bytes);
  uint32_t plain_run();
  bool starts_with(Table<uint8_t> prefix) const;

  const Tokenizer& tokenizer_;
  TextScratch scratch_;
  const uint8_t* given_;
  uint32_t next_ = 0, given_end_ = 0;  // of the given text, not yet normalized
  uint32_t begin_ = 0, end_ = 0;
};

}  // namespace mote
