// SPDX-License-Identifier: Apache-2.0
#include "runtime/text/window.h"

#include <string.h>

#include "kernels/trimmed_build.h"
#include "runtime/text/utf8.h"

namespace mote {
namespace {

bool starts(const uint8_t* at, const uint8_t* end, Table<uint8_t> prefix) {
  return prefix.count <= static_cast<size_t>(end - at) && memcmp(at, prefix.data, prefix.count) == 0;
}

/// Characters of a part if the room allows.
constexpr uint32_t kPartCharacters = 256;

}  // namespace

void Window::append(Table<uint8_t> bytes, uint32_t origin, uint32_t origin_bytes) {
  for (uint32_t i = 0; i < bytes.count; ++i, ++end_) {
    scratch_.text[end_] = bytes[i];
    scratch_.origin[end_] = origin;
    scratch_.origin_bytes[end_] = static_cast<uint8_t>(origin_bytes);
  }
}

void Window::start(uint32_t begin, uint32_t end) {
  given_begin_ = next_ = next_origin_ = begin;
  given_end_ = end;
  begin_ = end_ = kWindowHeadroom;
  if (MOTE_TEXT_UNIGRAM) is_first_piece_ = begin == 0;
  if (tokenizer_.segment_prefix.count == 0) return;
  const Utf8Character first = utf8_decode(given_ + begin, given_ + end);
  append(tokenizer_.segment_prefix, begin, first.bytes);
}

bool Window::fill() {
  const uint32_t kept = end_ - begin_;
  if (begin_ > kWindowHeadroom && next_ != given_end_) {
    memmove(scratch_.text + kWindowHeadroom, scratch_.text + begin_, kept);
    memmove(scratch_.origin + kWindowHeadroom, scratch_.origin + begin_, kept * sizeof(uint32_t));
    memmove(scratch_.origin_bytes + kWindowHeadroom, scratch_.origin_bytes + begin_, kept);
    begin_ = kWindowHeadroom;
    end_ = begin_ + kept;
  }
  if (tokenizer_.normalizer_count != 0) {
    while (next_ < given_end_ && (append_part(kPartCharacters) || append_part(1))) {
    }
    return end_ - begin_ != kept;
  }
  // Room for one more replacement is always left, so that none is done by halves.
  const uint32_t full = scratch_.slots - kMaxReplacementBytes;
  const uint8_t* given_end = given_ + given_end_;
  while (next_ < given_end_ && end_ < full) {
    const uint8_t* at = given_ + next_;
    if (const ReplacementView* replacement = find_replacement(at, given_end)) {
      append(replacement->to, next_, replacement->from.count);
      next_ += replacement->from.count;
      continue;
    }
    const Utf8Character character = utf8_decode(at, given_end);
    const Table<uint8_t> bytes = character.valid ? Table<uint8_t>{at, character.bytes}
                                                 : Table<uint8_t>{kReplacementUtf8, sizeof kReplacementUtf8};
    append(bytes, next_, character.bytes);
    next_ += character.bytes;
  }
  return end_ - begin_ != kept;
}

const ReplacementView* Window::find_replacement(const uint8_t* at, const uint8_t* end) const {
  for (uint32_t i = 0; i < tokenizer_.replacement_count; ++i) {
    if (starts(at, end, tokenizer_.replacements[i].from)) return &tokenizer_.replacements[i];
  }
  return nullptr;
}

/// Normalizes the next `characters` characters and those up to where the text may be cut. False, with nothing
/// done, if they do not fit.
bool Window::append_part(uint32_t characters) {
  NormalText text = normal_text(scratch_);
  const uint8_t* given_end = given_ + given_end_;
  uint32_t at = next_, origin = next_origin_;
  bool closed = false;
  for (; at < given_end_; ++text.count) {
    const Utf8Character character = utf8_decode(given_ + at, given_end);
    const uint8_t flags = tokenizer_.class_flags[tokenizer_.class_of(character.code_point)];
    if (text.count >= characters && closed && (flags & kClassOpens) != 0) break;
    closed = (flags & kClassCloses) != 0;
    if (text.count == text.room) return false;
    text.code_point[text.count] = character.code_point;
    text.origin[text.count] = origin;
    at += character.bytes;
    origin = next_ == next_origin_ ? at : origin + utf8_decode(given_ + origin, given_end).bytes;
  }
  const uint32_t count = text.count;
  uint32_t late = 0;
  if (MOTE_TEXT_NORMALIZERS &&
      !normalize(tokenizer_, {next_ == given_begin_, at == given_end_}, &text, &late))
    return false;
  if (!append_normal(text)) return false;
  if (late != 0) {
    origin = next_origin_;
    for (uint32_t i = late; i < count; ++i) origin += utf8_decode(given_ + origin, given_end).bytes;
  }
  next_ = at;
  next_origin_ = origin;
  return true;
}

bool Window::append_normal(const NormalText& text) {
  const uint32_t full = scratch_.slots - kMaxReplacementBytes;
  const uint32_t end = end_;
  for (uint32_t i = 0; i < text.count; ++i) {
    if (end_ >= full) {
      end_ = end;
      return false;
    }
    uint8_t bytes[4];
    Table<uint8_t> written = {bytes, utf8_encode(text.code_point[i], bytes)};
    if (const ReplacementView* replacement = find_replacement(bytes, bytes + written.count)) {
      written = replacement->to;
    }
    const uint32_t origin = text.origin[i];
    append(written, origin, utf8_decode(given_ + origin, given_ + given_end_).bytes);
  }
  return true;
}

uint32_t Window::put_piece_prefix(uint32_t begin, uint32_t end) {
  const Table<uint8_t> prefix = tokenizer_.piece_prefix;
  const file::PrefixRule rule = tokenizer_.piece_prefix_rule;
  if (prefix.count == 0 || rule == file::PrefixRule::none) return begin;
  const uint8_t* text = scratch_.text;
  // The rule is of SentencePiece alone.
  const bool first_alone = MOTE_TEXT_UNIGRAM && rule == file::PrefixRule::first_segment;
  if (first_alone && !is_first_piece_) return begin;
  if (first_alone) is_first_piece_ = false;
  const bool always = rule == file::PrefixRule::always || first_alone;
  if (!always && starts(text + begin, text + end, prefix)) return begin;
  const uint32_t origin = scratch_.origin[begin];
  if (rule == file::PrefixRule::first_unless_present && origin != 0) return begin;
  const uint8_t origin_bytes = scratch_.origin_bytes[begin];
  const uint32_t start = begin - prefix.count;
  const uint32_t kept = end_;
  end_ = start;
  append(prefix, origin, origin_bytes);
  end_ = kept;
  return start;
}

}  // namespace mote
