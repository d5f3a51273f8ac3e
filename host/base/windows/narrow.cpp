// SPDX-License-Identifier: Apache-2.0
//
// mbrtowc() of UTF-8, in the place of MinGW-w64's, for which each byte is a character: programs are linked with
// --wrap=mbrtowc. It is what the C++ library makes paths of narrow texts by; back it goes by UTF-8 as it is.
#include "host/base/windows/narrow.h"

#include <cerrno>
#include <cstdint>
#include <cwchar>

namespace mote::convert {

void take_narrow_texts_as_utf8() {}

}  // namespace mote::convert

namespace {

constexpr size_t kInvalid = static_cast<size_t>(-1), kCut = static_cast<size_t>(-2);

size_t fail() {
  errno = EILSEQ;
  return kInvalid;
}

}  // namespace

extern "C" size_t __wrap_mbrtowc(wchar_t* out, const char* bytes, size_t count, mbstate_t* state);

/// A character of 4 bytes is two of Windows' own: the second is kept in the state when 3 bytes are taken, and
/// comes with the fourth.
extern "C" size_t __wrap_mbrtowc(wchar_t* out, const char* bytes, size_t count, mbstate_t* state) {
  static mbstate_t own = 0;
  mbstate_t& kept = state == nullptr ? own : *state;
  if (bytes == nullptr) return kept = 0, 0;
  if (count == 0) return kCut;
  wchar_t unused = 0;
  wchar_t& to = out == nullptr ? unused : *out;
  if (kept != 0) {
    to = static_cast<wchar_t>(kept);
    kept = 0;
    return 1;
  }
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(bytes[i]); };
  const uint8_t first = byte(0);
  if (first < 0x80) {
    to = first;
    return first == 0 ? 0 : 1;
  }
  const size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4) return fail();
  uint32_t character = first & (0x7Fu >> length);
  for (size_t i = 1; i < length; ++i) {
    if (i == count) return kCut;
    if ((byte(i) & 0xC0) != 0x80) return fail();
    character = character << 6 | (byte(i) & 0x3Fu);
  }
  constexpr uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  if (character < kLeast[length] || character > 0x10FFFF || (character >= 0xD800 && character < 0xE000))
    return fail();
  if (length < 4) {
    to = static_cast<wchar_t>(character);
    return length;
  }
  to = static_cast<wchar_t>(0xD800 + ((character - 0x10000) >> 10));
  kept = static_cast<mbstate_t>(0xDC00 + (character & 0x3FF));
  return 3;
}
