// SPDX-License-Identifier: Apache-2.0
#include "converter/tokenizers/dfa.h"
#include "converter/tokenizers/split_rewrites.h"
#include "converter/tokenizers/token_texts.h"
#include "host/base/error.h"
#include "tests/support/unity_style.h"

using namespace mote;
using namespace mote::convert;

namespace {

/// The pieces that the expression cuts a text into, matches and what lies between them.
std::vector<std::string> pieces(const RegexPtr& regex, const std::string& text) {
  const CharClasses classes({regex}, {});
  const Dfa dfa = build_dfa(regex, classes);
  const std::vector<uint32_t> input = code_points(text);
  std::vector<std::string> result;
  std::string rest;
  for (size_t begin = 0; begin < input.size();) {
    size_t matched = begin;
    uint32_t state = kDfaStart;
    for (size_t at = begin; state != kDfaDead && at <= input.size(); ++at) {
      uint32_t column = classes.count();
      if (at < input.size()) {
        const uint32_t c = input[at];
        column =
            classes
                .table[size_t{classes.blocks[c / kClassBlockSize]} * kClassBlockSize + c % kClassBlockSize];
      }
      const uint16_t transition = dfa.transitions[state * (classes.count() + 1) + column];
      if ((transition & kDfaMatch) != 0) matched = at;
      state = transition & kDfaState;
    }
    const auto append = [](std::string& to, uint32_t c) {
      to += c < 0x80 ? std::string(1, static_cast<char>(c)) : "?";
    };
    if (matched == begin) {
      append(rest, input[begin++]);
      continue;
    }
    if (!rest.empty()) result.push_back(std::move(rest));
    rest.clear();
    std::string match;
    while (begin < matched) append(match, input[begin++]);
    result.push_back(match);
  }
  if (!rest.empty()) result.push_back(rest);
  return result;
}

std::vector<std::string> pieces(const std::string& expression, const std::string& text) {
  return pieces(parse_regex(expression), text);
}

using Pieces = std::vector<std::string>;

void assert_refused(const std::string& expression, const std::string& part) {
  CAPTURE(expression);
  try {
    parse_regex(expression);
    FAIL("read");
  } catch (const Error& error) {
    CAPTURE(error.what());
    TEST_ASSERT_TRUE(std::string(error.what()).find(part) != std::string::npos);
  }
}

}  // namespace

TEST("the first alternative that matches wins, not the longest") {
  REQUIRE(pieces("a|ab", "ab") == Pieces{"a", "b"});
  REQUIRE(pieces("ab|a", "aba") == Pieces{"ab", "a"});
  REQUIRE(pieces("(?:a|ab)(?:c|bcd)", "abcd") == Pieces{"abcd"});
  REQUIRE(pieces("'s|'t|[^a]+", "'sa") == Pieces{"'s", "a"});
}

TEST("a look-ahead for white space gives back its last character") {
  REQUIRE(pieces(R"(\s+(?!\S)|\s+|\S+)", "a   b  ") == Pieces{"a", "  ", " ", "b", "  "});
  REQUIRE(pieces(R"(\s+(?!\S))", "a b  c") == Pieces{"a b", " ", " c"});
  REQUIRE(pieces(kGpt2Words, "I've  12 \n x!!") == Pieces{"I", "'ve", " ", " 12", " \n", " x", "!!"});
}

TEST("repetitions are counted and greedy") {
  REQUIRE(pieces(R"(\p{N}{1,3})", "1234567") == Pieces{"123", "456", "7"});
  REQUIRE(pieces("a{2}", "aaaaa") == Pieces{"aa", "aa", "a"});
  REQUIRE(pieces("ba{2,}", "babaaaa") == Pieces{"ba", "baaaa"});
  REQUIRE(pieces(R"(\s*[\r\n]+|\s+)", "  \n\n  x") == Pieces{"  \n\n", "  ", "x"});
}

TEST("a possessive repetition that nothing could shorten is a plain one; behind braces + repeats") {
  // The pieces of tokenizers' Split.
  REQUIRE(pieces(R"([^\r\n\p{L}\p{N}]?+\p{L}++)", "ab 12345 aaa x") == Pieces{"ab", " 12345", " aaa", " x"});
  REQUIRE(pieces(R"(\p{N}{1,3}+)", "ab 12345 aaa") == Pieces{"ab ", "12345", " aaa"});
  REQUIRE(pieces(R"(\p{N}{2}+)", "ab 12345 aaa") == Pieces{"ab ", "1234", "5 aaa"});
  REQUIRE(pieces(R"( ?[^\s\p{L}\p{N}]++[\r\n]*+|\s+)", "!!\n\n a") == Pieces{"!!\n\n", " ", "a"});
}

TEST("case is ignored where that is said, for the long s too") {
  REQUIRE(pieces("(?i:'s|'re)", "a'Sb'rE's") == Pieces{"a", "'S", "b", "'rE", "'s"});
  REQUIRE(pieces("(?i:'s)", "'\u017F") == Pieces{"'?"});
  REQUIRE(pieces("(?i:a)b", "AbAB") == Pieces{"Ab", "AB"});
}

TEST("what is not read is refused by name") {
  assert_refused("(?<=a)b", "look-behind");
  assert_refused("a(?=b)", "(?=");
  assert_refused("a(?!bc)", "more than one character");
  assert_refused("a++a", "possessive");
  assert_refused("(?:a++)b", "possessive");
  assert_refused("(?:ab)++", "possessive");
  assert_refused("a*?", "lazy");
  assert_refused("^a", "anchor");
  assert_refused(R"(\p{Han})", "Han");
  assert_refused(R"([a&&b])", "&&");
  assert_refused("(a", "not closed");
  assert_refused("a)", "unbalanced");
  assert_refused(R"(\1)", "escape");
}

TEST("steps that cut out single characters are fused into the next, with the same pieces") {
  std::vector<SplitSpec> splits = {{parse_regex(R"(\p{N})")}, {parse_regex(kGpt2Words)}};
  fuse_splits(splits, 0);
  TEST_ASSERT_EQUAL_UINT32(1, splits.size());
  REQUIRE(pieces(splits[0].regex, "a 12  3 b  c") == Pieces{"a", " ", "1", "2", "  ", "3", " b", " ", " c"});
}
