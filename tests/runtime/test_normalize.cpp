// SPDX-License-Identifier: Apache-2.0
//
// The window's text against utf8proc's normal forms, in parts of every size.
#include <utf8proc.h>

#include "runtime/text/window.h"
#include "tests/support/growth.h"
#include "tests/support/text_tokenizer.h"
#include "tests/support/unity_style.h"

namespace {

using namespace mote::convert;

/// A tokenizer of bytes that only normalizes.
TokenizerSpec normalizing(std::vector<NormalizerSpec> steps) {
  TokenizerSpec spec;
  for (int byte = 0; byte < 256; ++byte) {
    spec.byte_ids.push_back(byte);
    spec.tokens.push_back({std::string(1, static_cast<char>(byte)), 0});
  }
  spec.normalizers = std::move(steps);
  return spec;
}

/// Byte tokens spell the normalized text.
std::string normalized(const test::TextTokenizer& tokenizer, const std::string& text) {
  std::string result;
  for (const int32_t id : tokenizer.encode(text, 0)) result += static_cast<char>(id);
  return result;
}

std::string by_utf8proc(const std::string& text, bool compatible, bool compose) {
  const int options = UTF8PROC_STABLE | (compose ? UTF8PROC_COMPOSE : UTF8PROC_DECOMPOSE) |
                      (compatible ? UTF8PROC_COMPAT : 0);
  utf8proc_uint8_t* out = nullptr;
  const auto count =
      utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                   static_cast<utf8proc_ssize_t>(text.size()), &out, static_cast<utf8proc_option_t>(options));
  REQUIRE(count >= 0);
  std::string result(reinterpret_cast<char*>(out), static_cast<size_t>(count));
  free(out);
  return result;
}

std::string utf8(uint32_t code_point) {
  uint8_t bytes[4];
  return {bytes, bytes + mote::utf8_encode(code_point, bytes)};
}

/// Letters, syllables and their parts, compatibility characters, and runs of marks in any order.
std::string random_text(uint32_t seed) {
  struct Block {
    uint32_t first, last;
  };
  static constexpr Block kBlocks[] = {{0x41, 0x7A},     {0xC0, 0x17F},    {0x300, 0x34E},    {0x300, 0x34E},
                                      {0x391, 0x3C9},   {0x5D0, 0x5EA},   {0x591, 0x5BD},    {0x915, 0x939},
                                      {0x1100, 0x1112}, {0x1161, 0x1175}, {0x11A8, 0x11C2},  {0xAC00, 0xAE00},
                                      {0x1E00, 0x1EFF}, {0x1F00, 0x1F15}, {0x2460, 0x24FF},  {0xF900, 0xFA0D},
                                      {0xFB00, 0xFB06}, {0xFDFA, 0xFDFB}, {0x1D15E, 0x1D164}};
  uint32_t state = seed * 2654435761u + 1;
  const auto next = [&] { return (state = state * 1664525u + 1013904223u) >> 12; };
  std::string text;
  for (uint32_t runs = next() % 12; runs > 0; --runs) {
    const Block& block = kBlocks[next() % std::size(kBlocks)];
    for (uint32_t i = next() % (runs == 3 ? 60 : 6); i > 0; --i) {
      text += utf8(block.first + next() % (block.last - block.first + 1));
    }
  }
  return text;
}

}  // namespace

TEST("NFC, NFD, NFKC and NFKD of any letters and marks are utf8proc's, whatever the window", "[values]") {
  for (const bool compatible : {false, true}) {
    for (const bool compose : {false, true}) {
      const TokenizerSpec spec = normalizing({canonical_form(compatible, compose)});
      const test::TextTokenizer large(spec);
      const test::TextTokenizer small(spec, 700);
      for (uint32_t seed = 0; seed < 1500; ++seed) {
        const std::string text = random_text(seed);
        CAPTURE(compatible, compose, seed, text);
        const std::string expected = by_utf8proc(text, compatible, compose);
        REQUIRE(normalized(large, text) == expected);
        std::vector<int32_t> ids;
        std::vector<mote_span> spans;
        mote_error error{};
        // Bytes make up one word here; the text is in the window as a whole or refused.
        if (small.try_encode(text, 0, &ids, &spans, &error) == MOTE_OK) {
          REQUIRE(normalized(small, text) == expected);
        } else {
          REQUIRE(expected.size() > 600);
        }
      }
    }
  }
}

TEST("a text of marks alone takes time that grows as its length does", "[text]") {
  const test::TextTokenizer tokenizer(normalizing({canonical_form(false, true)}));
  const auto marks = [](size_t count) {
    std::string text = "a";
    for (uint32_t i = 0; i < count; ++i) text += utf8(0x300 + i * 7 % 0x40);
    return text;
  };
  const std::string once = marks(15000), twice = marks(30000);
  REQUIRE(normalized(tokenizer, twice) == by_utf8proc(twice, false, true));
  // Sorting by insertion takes four times as long.
  TEST_ASSERT_LESS_THAN(test::kMostGrowth,
                        test::growth(1, [&](size_t n) { tokenizer.encode(n == 1 ? once : twice, 0); }));
}

TEST("a character maps to itself, to nothing or to any text, and each byte knows its character") {
  CharacterMap map;
  map.set('b', U"");
  map.set('c', U"xyz");
  map.set(CharSet::of(0xE9), U" \u00e9 ");
  const test::TextTokenizer tokenizer(normalizing({{NormalizerKind::map, map, {}, {}, {}}}));
  std::vector<mote_span> spans;
  const auto ids = tokenizer.encode("abc\u00e9d", 0, &spans);
  REQUIRE(normalized(tokenizer, "abc\u00e9d") == "axyz \u00e9 d");
  TEST_ASSERT_EQUAL_UINT32(9, ids.size());
  TEST_ASSERT_EQUAL_UINT32(0, spans[0].begin);
  TEST_ASSERT_EQUAL_UINT32(2, spans[3].begin);  // z
  TEST_ASSERT_EQUAL_UINT32(3, spans[3].end);
  TEST_ASSERT_EQUAL_UINT32(3, spans[6].begin);  // the second byte of the e
  TEST_ASSERT_EQUAL_UINT32(5, spans[6].end);
  TEST_ASSERT_EQUAL_UINT32(6, spans[8].end);
}

TEST("white space at the ends is left out, that inside is not, also over many parts") {
  NormalizerSpec strip{NormalizerKind::strip, {}, {}, {}, {}};
  strip.left = strip.right = true;
  const test::TextTokenizer tokenizer(normalizing({strip}));
  const std::string spaces(700, ' '), inside = "a" + spaces + "b\n c";
  REQUIRE(normalized(tokenizer, spaces + inside + spaces + "\u3000") == inside);
  REQUIRE(normalized(tokenizer, spaces).empty());
  REQUIRE(normalized(tokenizer, "").empty());
}

TEST("a run that an expression matches is replaced as a whole and belongs to its last character") {
  const test::TextTokenizer tokenizer(
      normalizing({{NormalizerKind::replace, {}, {}, parse_regex(" {2,}"), U"-+"}}));
  REQUIRE(normalized(tokenizer, "a  b c   ") == "a-+b c-+");
  std::vector<mote_span> spans;
  tokenizer.encode("a" + std::string(1000, ' ') + "b", 0, &spans);
  TEST_ASSERT_EQUAL_UINT32(4, spans.size());
  TEST_ASSERT_EQUAL_UINT32(1000, spans[1].begin);
  TEST_ASSERT_EQUAL_UINT32(1001, spans[1].end);
}
