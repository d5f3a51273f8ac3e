// SPDX-License-Identifier: Apache-2.0

#include "tests/support/growth.h"
#include "tests/support/realdata.h"
#include "tests/support/test_model.h"
#include "tests/support/text_tokenizer.h"

namespace {

namespace fs = std::filesystem;

/// SentencePiece style: characters, byte tokens for the rest, a merge for each doubling of "a" and of the
/// space sign.
mote::convert::TokenizerSpec sentence_piece() {
  mote::convert::TokenizerSpec spec;
  const auto add = [&](const std::string& text, uint8_t flags = 0) {
    spec.tokens.push_back({text, flags});
    return static_cast<uint32_t>(spec.tokens.size() - 1);
  };
  add("<unk>", mote::kTokenSpecial);
  add("<s>", mote::kTokenSpecial);
  for (int byte = 0; byte < 256; ++byte) {
    spec.byte_ids.push_back(
        static_cast<int32_t>(add(std::string(1, static_cast<char>(byte)), mote::kTokenByte)));
  }
  const uint32_t space = add(" "), a = add("a"), b = add("b");
  spec.characters = {{0x2581, space}, {'a', a}, {'b', b}};
  const uint32_t aa = add("aa"), aaaa = add("aaaa"), ab = add("ab"), space_a = add(" a");
  spec.merges = {{a, a, aa, 0}, {aa, aa, aaaa, 1}, {space, a, space_a, 2}, {a, b, ab, 3}};
  spec.added = {{"<s>", 1, mote::kAddedSpecial, false}};
  spec.segment_prefix = "\u2581";
  spec.replacements = {{" ", "\u2581"}};
  spec.single.before = {1};
  spec.strip_spaces = 1;
  return spec;
}

mote::convert::TokenizerSpec own(const std::string& name) {
  return test::read_json_tokenizer(fs::path(MOTE_SOURCE_DIR) / "tests/golden/tokenizers" / name /
                                   "tokenizer.json");
}

/// With an added token that is sought in normalized text.
mote::convert::TokenizerSpec clip_with_normalized_token() {
  mote::convert::TokenizerSpec spec = own("own_clip");
  spec.added.front().normalized = true;
  return spec;
}

/// One of each kind.
const std::vector<mote::convert::TokenizerSpec>& all_kinds() {
  static const std::vector<mote::convert::TokenizerSpec> kinds = {
      own("own_gpt4"),    sentence_piece(), own("own_wordpiece"),
      own("own_unigram"), own("own_clip"),  clip_with_normalized_token()};
  return kinds;
}

/// Texts of random bytes, some of them spelling whole characters and added tokens.
std::string random_text(uint32_t seed, size_t bytes) {
  static const char* const kPieces[] = {"<|endoftext|>",
                                        "<s>",
                                        "\xF0\x9F\xA6\x99",
                                        "\xE2\x82",
                                        " ",
                                        "  ",
                                        "\r\n",
                                        "'s",
                                        "12",
                                        "\u0301\u0323",
                                        "\ufb01",
                                        "\u4e2d",
                                        "light ",
                                        "\u0159\u010d\u4e2d\u4e2d"};
  std::string text;
  uint32_t state = seed * 2654435761u + 1;
  const auto next = [&] { return (state = state * 1664525u + 1013904223u) >> 16; };
  while (text.size() < bytes) {
    const uint32_t kind = next() % 4;
    if (kind == 0) text += kPieces[next() % std::size(kPieces)];
    if (kind == 1) text += static_cast<char>(next());
    if (kind >= 2) text += static_cast<char>('a' + next() % 26);
  }
  return text;
}

/// Hugging Face's merge rule, the slow way: of all pairs the lowest rank, of these the leftmost.
std::vector<int32_t> merge_slowly(const mote::convert::TokenizerSpec& spec, std::vector<uint32_t> ids) {
  for (;;) {
    const mote::convert::MergeSpec* best = nullptr;
    size_t place = 0;
    for (size_t i = 0; i + 1 < ids.size(); ++i) {
      for (const auto& merge : spec.merges) {
        if (merge.left != ids[i] || merge.right != ids[i + 1]) continue;
        if (best == nullptr || merge.rank < best->rank) best = &merge, place = i;
      }
    }
    if (best == nullptr) return {ids.begin(), ids.end()};
    ids[place] = best->merged;
    ids.erase(ids.begin() + static_cast<std::ptrdiff_t>(place) + 1);
  }
}

}  // namespace

TEST("merging is by rank, then from the left") {
  const auto spec = sentence_piece();
  const test::TextTokenizer tokenizer(spec);
  uint32_t state = 7;
  for (int round = 0; round < 300; ++round) {
    std::string word;
    std::vector<uint32_t> ids = {spec.characters.at(0x2581)};
    for (int i = 0; i < round % 40; ++i) {
      state = state * 1664525u + 1013904223u;
      word += "aaab"[state >> 30];
      ids.push_back(spec.characters.at(static_cast<uint32_t>(word.back())));
    }
    CAPTURE(word);
    if (!word.empty()) REQUIRE(tokenizer.encode(word, 0) == merge_slowly(spec, ids));
  }
}

TEST("characters without a token become byte tokens and come back", "[text]") {
  const test::TextTokenizer tokenizer(sentence_piece());
  const std::string text = "a\xF0\x9F\xA6\x99 b";
  const std::vector<int32_t> ids = tokenizer.encode(text, MOTE_ADD_SPECIAL);
  REQUIRE(ids == std::vector<int32_t>{1, 264, 2 + 0xF0, 2 + 0x9F, 2 + 0xA6, 2 + 0x99, 258, 260});
  REQUIRE(tokenizer.decode(ids, MOTE_SKIP_SPECIAL) == text);
}

TEST("special tokens in a text count only where that is asked for") {
  const test::TextTokenizer tokenizer(own("own_gpt4"));
  REQUIRE(tokenizer.encode("<|endoftext|>", MOTE_PARSE_SPECIAL) == std::vector<int32_t>{0});
  const auto plain = tokenizer.encode("<|endoftext|>", 0);
  TEST_ASSERT_GREATER_THAN(1, plain.size());
  TEST_ASSERT_EQUAL_STRING("<|endoftext|>", tokenizer.decode(plain, 0));
  TEST_ASSERT_EQUAL_STRING("", tokenizer.decode({0}, MOTE_SKIP_SPECIAL));
  TEST_ASSERT_EQUAL_STRING("<|endoftext|>", tokenizer.decode({0}, 0));
}

TEST("a text of any length takes no more scratch than its longest word", "[values]") {
  for (const auto& spec : all_kinds()) {
    const test::TextTokenizer large(spec);
    test::TextTokenizer small(spec, 64);
    uint32_t compared = 0;
    for (uint32_t seed = 0; seed < 60; ++seed) {
      std::string text;
      for (const char c : random_text(seed, 400)) {
        // As it is; in single bytes; in words that keep their characters whole.
        const bool apart = seed % 3 == 1 || (seed % 3 == 2 && c >= 'a' && c <= 'h');
        text += (apart ? " " : "") + std::string(1, c);
      }
      std::vector<mote_span> spans, spans_of_small;
      std::vector<int32_t> ids;
      mote_error error{};
      const std::vector<int32_t> expected = large.encode(text, MOTE_PARSE_SPECIAL, &spans);
      const mote_status status = small.try_encode(text, MOTE_PARSE_SPECIAL, &ids, &spans_of_small, &error);
      CAPTURE(seed, text, error.text);
      if (status == MOTE_TEXT_TOO_LONG) continue;
      ++compared;
      REQUIRE(status == MOTE_OK);
      REQUIRE(ids == expected);
      REQUIRE(std::memcmp(spans.data(), spans_of_small.data(), spans.size() * sizeof(mote_span)) == 0);
    }
    // Without words a text is one.
    if (!spec.splits.empty()) TEST_ASSERT_GREATER_THAN(25, compared);
  }
}

TEST("a word of 64 KiB takes time that grows as its length does, a longer one is refused", "[values]") {
  for (const auto& spec : {own("own_gpt4"), sentence_piece(), own("own_unigram")}) {
    const test::TextTokenizer tokenizer(spec);
    for (const std::string unit : {"a", "on", "wor"}) {
      std::string word;
      while (word.size() < 65530) word += unit;
      word.resize(65530);
      CAPTURE(unit);
      TEST_ASSERT_EQUAL_STRING(word, tokenizer.decode(tokenizer.encode(word, 0), 0));
      const std::string half = word.substr(0, word.size() / 2);
      TEST_ASSERT_LESS_THAN(test::kMostGrowth,
                            test::growth(1, [&](size_t n) { tokenizer.encode(n == 1 ? half : word, 0); }));
    }
    std::vector<int32_t> ids;
    std::vector<mote_span> spans;
    mote_error error{};
    const std::string longer(70000, 'a');
    TEST_ASSERT_EQUAL_INT(MOTE_TEXT_TOO_LONG, tokenizer.try_encode("ab " + longer, 0, &ids, &spans, &error));
    TEST_ASSERT_NOT_NULL(std::strstr(error.text, "the word from byte"));
  }
}

TEST("a word of 64 KiB is one unknown WordPiece, a longer one is refused", "[values]") {
  const test::TextTokenizer tokenizer(own("own_wordpiece"));
  std::vector<mote_span> spans;
  const auto ids = tokenizer.encode("a " + std::string(65530, 'a'), 0, &spans);
  TEST_ASSERT_EQUAL_UINT32(2, ids.size());
  TEST_ASSERT_EQUAL_UINT32(2, spans[1].begin);
  TEST_ASSERT_EQUAL_UINT32(65532, spans[1].end);
  std::vector<int32_t> more;
  mote_error error{};
  TEST_ASSERT_EQUAL_INT(MOTE_TEXT_TOO_LONG,
                        tokenizer.try_encode("a " + std::string(70000, 'a'), 0, &more, &spans, &error));
  TEST_ASSERT_NOT_NULL(std::strstr(error.text, "the word from byte 2 "));
}

TEST("a part of a text that cannot be cut is refused where it exceeds the scratch", "[text]") {
  test::TextTokenizer tokenizer(own("own_wordpiece"), 64);
  std::string marks = "a ";
  for (int i = 0; i < 2000; ++i) marks += "\u0301";
  std::vector<int32_t> ids;
  std::vector<mote_span> spans;
  mote_error error{};
  TEST_ASSERT_EQUAL_INT(MOTE_TEXT_TOO_LONG, tokenizer.try_encode(marks, 0, &ids, &spans, &error));
  TEST_ASSERT_NOT_NULL(std::strstr(error.text, "the word from byte"));
}

TEST("empty texts, zeros and bytes that are no UTF-8 are texts like others") {
  const test::TextTokenizer tokenizer(own("own_gpt4"));
  REQUIRE(tokenizer.encode("", MOTE_ADD_SPECIAL).empty());
  const std::string zeros("a\0b\0", 4);
  TEST_ASSERT_EQUAL_STRING(zeros, tokenizer.decode(tokenizer.encode(zeros, 0), 0));
  std::vector<mote_span> spans;
  const auto ids = tokenizer.encode("x\xFFy", 0, &spans);
  TEST_ASSERT_EQUAL_STRING("x\uFFFDy", tokenizer.decode(ids, 0));
  TEST_ASSERT_EQUAL_UINT32(3, spans.back().end);
  // The start of a character that breaks off counts as one U+FFFD.
  REQUIRE(tokenizer.encode("\xE2\x82", 0) == tokenizer.encode("\uFFFD", 0));
}

TEST("text streamed token by token is whole characters and equals the text decoded at once", "[text]") {
  const auto gpt4 = own("own_gpt4");
  for (const auto& spec : {gpt4, sentence_piece()}) {
    const test::TextTokenizer tokenizer(spec);
    for (uint32_t seed = 0; seed < 200; ++seed) {
      const auto ids = test::some_ids(60, static_cast<uint32_t>(spec.tokens.size()), seed);
      std::string text;
      for (const std::string& piece : tokenizer.decode_pieces(ids, 0)) {
        // Only whole characters: decoding what was written finds nothing to replace.
        const auto* at = reinterpret_cast<const uint8_t*>(piece.data());
        for (const uint8_t* end = at + piece.size(); at < end;) {
          const mote::Utf8Character character = mote::utf8_decode(at, end);
          REQUIRE(character.valid);
          at += character.bytes;
        }
        text += piece;
      }
      if (!spec.characters.empty()) continue;
      // In a byte-level vocabulary the text is that of the bytes, whatever token brought them.
      std::string bytes, expected;
      for (const int32_t id : ids) bytes += spec.tokens[static_cast<size_t>(id)].text;
      const auto* at = reinterpret_cast<const uint8_t*>(bytes.data());
      for (const uint8_t* end = at + bytes.size(); at < end;) {
        const mote::Utf8Character character = mote::utf8_decode(at, end);
        expected += character.valid ? std::string(at, at + character.bytes) : "\uFFFD";
        at += character.bytes;
      }
      REQUIRE(text == expected);
    }
  }
}

TEST("offsets are of whole characters and in order", "[text]") {
  const test::TextTokenizer tokenizer(own("own_gpt4"));
  for (uint32_t seed = 0; seed < 50; ++seed) {
    const std::string text = random_text(seed, 200);
    std::vector<mote_span> spans;
    tokenizer.encode(text, MOTE_PARSE_SPECIAL, &spans);
    uint32_t before = 0;
    for (const mote_span& span : spans) {
      REQUIRE(span.begin < span.end);
      REQUIRE(span.end <= text.size());
      REQUIRE(span.begin >= before);
      before = span.begin;
    }
    TEST_ASSERT_EQUAL_UINT32(text.size(), spans.back().end);
  }
}

TEST("classes of characters in ranges are those in blocks, in fewer bytes", "[values]") {
  for (const auto& spec : all_kinds()) {
    const test::TextTokenizer blocks(spec), ranges(spec, 1 << 16, true);
    REQUIRE(blocks.view().class_ranges.count == 0);
    REQUIRE(ranges.view().class_blocks.count == 0);
    uint32_t different = 0;
    for (uint32_t c = 0; c < 0x110000; ++c)
      different += blocks.view().class_of(c) != ranges.view().class_of(c);
    TEST_ASSERT_EQUAL_UINT32(0, different);
    const uint64_t of_blocks =
        blocks.view().class_table.count + 2 * uint64_t{blocks.view().class_blocks.count};
    TEST_ASSERT_TRUE(4 * uint64_t{ranges.view().class_ranges.count} < of_blocks);
    const std::string text = random_text(5, 200) + " \u00e9t\u00e9 \u4f60\u597d 12\u0663";
    REQUIRE(blocks.encode(text, MOTE_ADD_SPECIAL) == ranges.encode(text, MOTE_ADD_SPECIAL));
  }
}

TEST("ranges of characters that leave some out, or are out of order, are refused", "[text]") {
  test::TextTokenizer tokenizer(own("own_gpt4"), 256, true);
  const mote::Table<uint32_t> ranges = tokenizer.view().class_ranges;
  const auto refused_with = [&](uint32_t at, uint32_t value) {
    uint32_t& range = const_cast<uint32_t&>(ranges.data[at]);
    const uint32_t original = range;
    range = value;
    mote_error error{};
    const mote_status status = tokenizer.open(&error, false);
    range = original;
    return status == MOTE_CORRUPT_FILE && std::strstr(error.text, "class_ranges") != nullptr;
  };
  REQUIRE(refused_with(0, ranges[0] + 0x100));  // begins with the second character
  REQUIRE(refused_with(2, ranges[1]));          // the same start again
  REQUIRE(refused_with(1, ranges[1] | 0xFF));   // no such class
  REQUIRE(!refused_with(1, ranges[1]));
}

TEST("any byte of the tables flipped gives an error or a normal run", "[text]") {
  bool ranges = false;
  for (const auto& spec : all_kinds()) {
    test::TextTokenizer tokenizer(spec, 256, ranges = !ranges);
    const std::string text = random_text(3, 100) + "<|endoftext|> <s>a b 123   x";
    uint32_t refused = 0, tried = 0;
    uint8_t* data = tokenizer.segment().data();
    for (size_t at = 0; at < tokenizer.segment().size(); at += at < 4096 ? 1 : 37) {
      const uint8_t original = data[at];
      data[at] = static_cast<uint8_t>(original ^ (at % 2 == 0 ? 0xFF : 0x01));
      mote_error error{};
      std::vector<int32_t> ids;
      std::vector<mote_span> spans;
      ++tried;
      if (tokenizer.open(&error, false) != MOTE_OK) {
        ++refused;
      } else if (tokenizer.try_encode(text, MOTE_PARSE_SPECIAL, &ids, &spans, &error) == MOTE_OK) {
        tokenizer.decode(ids, 0);
      }
      data[at] = original;
    }
    mote_error error{};
    TEST_ASSERT_EQUAL_INT(MOTE_OK, tokenizer.open(&error, true));
    TEST_ASSERT_GREATER_THAN(tried / 8, refused);
    data[100] ^= 1;
    TEST_ASSERT_EQUAL_INT(MOTE_CORRUPT_FILE, tokenizer.open(&error, true));
  }
}
