// SPDX-License-Identifier: Apache-2.0
//
// A byte that picks a tokenizer and flags, then ids of two bytes each: what comes out fits the room, is
// UTF-8, and each part of it whole characters.
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/tokenizers.h"
#include "tests/support/any_file.h"

namespace {

bool is_utf8(const std::string& text) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(text.data());
  for (size_t at = 0; at < text.size();) {
    const uint8_t first = bytes[at];
    const size_t length = first < 0x80 ? 1 : first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : first >= 0xC2 ? 2 : 0;
    if (length == 0 || first > 0xF4 || at + length > text.size()) return false;
    uint32_t code = length == 1 ? first : first & (0x7Fu >> length);
    for (size_t i = 1; i < length; ++i) {
      if ((bytes[at + i] & 0xC0) != 0x80) return false;
      code = code << 6 | (bytes[at + i] & 0x3Fu);
    }
    const bool shortest = length == 1 || code >= (length == 2 ? 0x80u : length == 3 ? 0x800u : 0x10000u);
    if (!shortest || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) return false;
    at += length;
  }
  return true;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const test::TextTokenizer* const picked = size == 0 ? nullptr : fuzz::pick_tokenizer(data[0]);
  if (picked == nullptr) return 0;
  const test::TextTokenizer& tokenizer = *picked;
  std::vector<int32_t> ids;
  for (size_t at = 1; at + 1 < size; at += 2) {
    ids.push_back(static_cast<int32_t>((data[at] | uint32_t{data[at + 1]} << 8) % tokenizer.view().tokens));
  }
  for (const std::string& piece : tokenizer.decode_pieces(ids, data[0] >> 6)) {
    test::must(piece.size() <= mote::decode_room(tokenizer.view()) && is_utf8(piece));
  }
  return 0;
}
