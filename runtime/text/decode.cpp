// SPDX-License-Identifier: Apache-2.0
#include "runtime/text/decode.h"

#include <string.h>

#include "runtime/text/utf8.h"

namespace mote {
namespace {

/// Puts bytes together to characters. Bytes that are not UTF-8 become U+FFFD, as Hugging Face does: one for
/// each longest start of a character in a byte-level vocabulary, and one for each byte where single bytes
/// stand in for characters.
class PieceWriter {
 public:
  PieceWriter(mote_detokenizer* state, bool byte_by_byte, uint8_t* out)
      : state_(state), byte_by_byte_(byte_by_byte), begin_(out), out_(out) {}

  uint32_t written() const { return static_cast<uint32_t>(out_ - begin_); }

  void put(uint8_t byte) {
    if (state_->pending_bytes != 0) {
      const uint8_t lead = state_->pending[0];
      if (state_->pending_bytes == 1 ? utf8_second_fits(lead, byte) : utf8_continues(byte)) {
        return append(byte);
      }
      break_off();
    }
    if (byte < 0x80) {
      if (byte == ' ' && state_->strip != 0) {
        --state_->strip;
        return;
      }
      state_->strip = 0;
      *out_++ = byte;
    } else if (utf8_length(byte) != 0) {
      append(byte);
    } else {
      replace();
    }
  }

  /// The pending bytes do not become a character.
  void break_off() {
    const uint32_t count = state_->pending_bytes == 0 ? 0 : byte_by_byte_ ? state_->pending_bytes : 1;
    state_->pending_bytes = 0;
    for (uint32_t i = 0; i < count; ++i) replace();
  }

 private:
  void append(uint8_t byte) {
    state_->pending[state_->pending_bytes++] = byte;
    if (state_->pending_bytes < utf8_length(state_->pending[0])) return;
    memcpy(out_, state_->pending, state_->pending_bytes);
    out_ += state_->pending_bytes;
    state_->pending_bytes = 0;
    state_->strip = 0;
  }

  void replace() {
    memcpy(out_, kReplacementUtf8, sizeof kReplacementUtf8);
    out_ += sizeof kReplacementUtf8;
    state_->strip = 0;
  }

  mote_detokenizer* state_;
  bool byte_by_byte_;
  uint8_t* begin_;
  uint8_t* out_;
};

/// Says whether tokens are whole characters but for byte tokens.
bool is_by_characters(const Tokenizer& t) {
  return t.model != file::TokenModel::bpe || t.characters.count != 0;
}

}  // namespace

uint32_t decode_room(const Tokenizer& tokenizer) {
  // Each byte, those pending included, becomes at most U+FFFD.
  return (tokenizer.continuing_prefix.count + tokenizer.longest_token + 4) *
         static_cast<uint32_t>(sizeof kReplacementUtf8);
}

uint32_t decode_next(const Tokenizer& tokenizer, mote_detokenizer* state, uint32_t id, uint8_t* out) {
  const uint8_t flags = tokenizer.token_flags[id];
  if ((state->flags & MOTE_SKIP_SPECIAL) != 0 && (flags & kTokenSpecial) != 0) return 0;
  const bool by_characters = is_by_characters(tokenizer);
  PieceWriter writer(state, by_characters, out);
  if (by_characters && (flags & kTokenByte) == 0) writer.break_off();
  const Table<uint8_t> text = tokenizer.text_of(id);
  if (state->started == 0 && (flags & kTokenInner) != 0) {
    const Table<uint8_t> prefix = tokenizer.continuing_prefix;
    for (uint32_t i = 0; i < prefix.count; ++i) writer.put(prefix[i]);
  }
  const bool strip_all = tokenizer.strip_first_token && state->started == 0;
  state->started = 1;
  for (uint32_t i = 0; i < text.count; ++i) {
    if (!(strip_all && text[i] == ' ')) writer.put(text[i]);
  }
  return writer.written();
}

uint32_t decode_finish(const Tokenizer& tokenizer, mote_detokenizer* state, uint8_t* out) {
  PieceWriter writer(state, is_by_characters(tokenizer), out);
  writer.break_off();
  return writer.written();
}

}  // namespace mote
