// SPDX-License-Identifier: Apache-2.0
//
// A window onto the normalized form of a text. It is filled from the given text as words are consumed, so
// that a text of any length takes memory for its longest word only.
//
//   slots   | headroom | consumed | begin ... end | free |
//
// Without normalizers characters and replacements are copied one by one. With them the text goes in parts of
// some hundred characters, cut where no step looks across: between a character whose class closes and one
// whose class opens. A part that has no such place must fit into the window as a whole.
#pragma once

#include "runtime/text/normalize.h"
#include "runtime/text/scratch.h"
#include "runtime/text/tokenizer.h"

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

  /// Says whether all of the text is in the window.
  bool complete() const { return next_ == given_end_; }

  /// Puts the piece prefix before the piece [begin, end), one not empty, if its rule says so. Text before the
  /// piece is headroom or done with. Returns where the piece starts then.
  uint32_t put_piece_prefix(uint32_t begin, uint32_t end);

  /// Positions are slots.
  uint32_t begin() const { return begin_; }
  uint32_t end() const { return end_; }
  void consume_to(uint32_t slot) { begin_ = slot; }
  const uint8_t* text() const { return scratch_.text; }

  /// Where in the given text the window starts.
  uint32_t position() const { return begin_ < end_ ? scratch_.origin[begin_] : next_; }

  /// Returns the place in the given text that the slots [begin, end), at least one, came from.
  Span origin(uint32_t begin, uint32_t end) const {
    const uint32_t last = end - 1;
    return {scratch_.origin[begin], scratch_.origin[last] + scratch_.origin_bytes[last]};
  }

 private:
  void append(Table<uint8_t> bytes, uint32_t origin, uint32_t origin_bytes);
  bool append_part(uint32_t characters);
  bool append_normal(const NormalText& text);
  const ReplacementView* find_replacement(const uint8_t* at, const uint8_t* end) const;

  const Tokenizer& tokenizer_;
  TextScratch scratch_;
  const uint8_t* given_;
  uint32_t given_begin_ = 0;
  uint32_t next_ = 0, given_end_ = 0;  // of the given text, not yet normalized
  uint32_t next_origin_ = 0;           // next_, but where normalization makes origins late
  uint32_t begin_ = 0, end_ = 0;
  bool is_first_piece_ = false;  // the next piece that gets a prefix is the text's first
};

}  // namespace mote
