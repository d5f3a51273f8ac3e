// SPDX-License-Identifier: Apache-2.0
#include "runtime/tokenizer/window.h"

#include <string.h>

#include "runtime/tokenizer/utf8.h"

namespace mote {
namespace {

bool starts(const uint8_t* at, const uint8_t* end, Table<uint8_t> prefix) {
  return prefix.count <= static_cast<size_t>(end - at) && memcmp(at, prefix.data, prefix.count) == 0;
}

}  // namespace

void Window::append(Table<uint8_t> bytes, uint32_t origin, uint32_t origin_bytes) {
  for (uint32_t i = 0; i < bytes.count; ++i, ++end_) {
    scratch_.text[end_] = bytes[i];
    scratch_.origin[end_] = origin;
    scratch_.origin_bytes[end_] = static_cast<uint8_t>(origin_bytes);
  }
}

void Window::start(uint32_t begin, uint32_t end) {
  next_ = begin;
  given_end_ = end;
  begin_ = end_ = kWindowHeadroom;
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
  // Room for one more replacement is always left, so that none is done by halves.
  const uint32_t full = scratch_.slots - kMaxReplacementBytes;
  const uint8_t* given_end = given_ + given_end_;
  while (next_ < given_end_ && end_ < full) {
    const uint8_t* at = given_ + next_;
    const ReplacementView* replacement = nullptr;
    for (uint32_t i = 0; i < tokenizer_.replacement_count && replacement == nullptr; ++i) {
      if (starts(at, given_end, tokenizer_.replacements[i].from)) replacement = &tokenizer_.replacements[i];
    }
    if (replacement != nullptr) {
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

bool Window::starts_with(Table<uint8_t> prefix) const {
  return starts(scratch_.text + begin_, scratch_.text + end_, prefix);
}

void Window::put_piece_prefix() {
  const Table<uint8_t> prefix = tokenizer_.piece_prefix;
  const file::PrefixRule rule = tokenizer_.piece_prefix_rule;
  if (prefix.count == 0 || rule == file::PrefixRule::none || begin_ == end_) return;
  if (rule != file::PrefixRule::always && starts_with(prefix)) return;
  if (rule == file::PrefixRule::first_unless_present && scratch_.origin[begin_] != 0) return;
  // What lies before the piece is headroom or consumed, and at least as long: a piece follows the headroom or
  // an added token.
  const uint32_t origin = scratch_.origin[begin_];
  const uint8_t origin_bytes = scratch_.origin_bytes[begin_];
  const uint32_t end = end_;
  end_ = begin_ -= prefix.count;
  append(prefix, origin, origin_bytes);
  end_ = end;
}

}  // namespace mote
