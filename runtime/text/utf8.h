// SPDX-License-Identifier: Apache-2.0
//
// UTF-8, with what is not UTF-8 read as U+FFFD, one for each longest start of a character that breaks off
// (Unicode 3.9, "U+FFFD substitution of maximal subparts").
#pragma once

#include <stdint.h>

namespace mote {

inline constexpr uint32_t kReplacementCharacter = 0xFFFD;
inline constexpr uint8_t kReplacementUtf8[3] = {0xEF, 0xBF, 0xBD};

/// Bytes of the character that starts with `lead`, 0 if none does.
inline uint32_t utf8_length(uint8_t lead) {
  if (lead < 0x80) return 1;
  if (lead < 0xC2 || lead > 0xF4) return 0;
  return lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
}

/// Says whether `byte` may be the second one after `lead`: excludes overlong forms, surrogates and code
/// points past U+10FFFF.
inline bool utf8_second_fits(uint8_t lead, uint8_t byte) {
  const uint8_t low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
  const uint8_t high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
  return byte >= low && byte <= high;
}

inline bool utf8_continues(uint8_t byte) { return (byte & 0xC0) == 0x80; }

struct Utf8Character {
  uint32_t code_point;
  uint32_t bytes;  // 1 to 4
  bool valid;
};

/// The character at `at`, which is before `end`.
inline Utf8Character utf8_decode(const uint8_t* at, const uint8_t* end) {
  const uint8_t lead = *at;
  if (lead < 0x80) return {lead, 1, true};
  const uint32_t length = utf8_length(lead);
  if (length == 0) return {kReplacementCharacter, 1, false};
  uint32_t code_point = lead & (0x7Fu >> length);
  for (uint32_t i = 1; i < length; ++i) {
    const bool fits = at + i < end && (i == 1 ? utf8_second_fits(lead, at[i]) : utf8_continues(at[i]));
    if (!fits) return {kReplacementCharacter, i, false};
    code_point = code_point << 6 | (at[i] & 0x3Fu);
  }
  return {code_point, length, true};
}

/// Bytes that a code point takes.
inline uint32_t utf8_size(uint32_t code_point) {
  return code_point < 0x80 ? 1 : code_point < 0x800 ? 2 : code_point < 0x10000 ? 3 : 4;
}

/// Writes a code point that is no surrogate; returns its bytes.
inline uint32_t utf8_encode(uint32_t code_point, uint8_t* out) {
  const uint32_t bytes = utf8_size(code_point);
  if (bytes == 1) {
    *out = static_cast<uint8_t>(code_point);
    return 1;
  }
  for (uint32_t i = bytes - 1; i > 0; --i, code_point >>= 6) {
    out[i] = static_cast<uint8_t>(0x80 | (code_point & 0x3F));
  }
  const uint32_t lead = bytes == 2 ? 0xC0 : bytes == 3 ? 0xE0 : 0xF0;
  out[0] = static_cast<uint8_t>(lead | code_point);
  return bytes;
}

}  // namespace mote
