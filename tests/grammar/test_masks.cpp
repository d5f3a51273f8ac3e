// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "host/grammar/expression.h"
#include "host/grammar/request.h"
#include "tests/grammar/grammar_case.h"

namespace {

using mote::grammar::Allowance;
using mote::grammar::bytes;
using mote::grammar::characters;
using mote::grammar::choice;
using mote::grammar::CodePoints;
using mote::grammar::kEndless;
using mote::grammar::NodePtr;
using mote::grammar::repeat;
using mote::grammar::rule;
using mote::grammar::sequence;
using mote::grammar::Source;

Source expression(const std::string& text) {
  Allowance allowance({});
  return mote::grammar::expression_source(text, allowance);
}

/// Strings of so many characters, with an escape or two.
NodePtr quoted(uint32_t least, uint32_t most) {
  const CodePoints plain = CodePoints({{' ', 0x10FFFF}}) - CodePoints({{'"', '"'}, {'\\', '\\'}});
  const NodePtr escaped =
      sequence({bytes("\\"), characters(CodePoints({{'"', '"'}, {'\\', '\\'}, {'n', 'n'}}))});
  return sequence({bytes("\""), repeat(choice({characters(plain), escaped}), least, most), bytes("\"")});
}

/// Arrays and objects in each other, names counted.
Source nested() {
  Source source;
  const NodePtr list =
      sequence({bytes("["),
                choice({mote::grammar::nothing(),
                        sequence({rule(0), repeat(sequence({bytes(","), rule(0)}), 0, 80)})}),
                bytes("]")});
  const NodePtr object =
      sequence({bytes("{\"name\":"), quoted(2, 100), bytes(",\"on\":"), rule(0), bytes("}")});
  source.rules = {{"a value", choice({list, object, bytes("true"),
                                      expression("-?(0|[1-9][0-9]{0,16})").rules[0].body, rule(1)})},
                  {"a string", quoted(0, kEndless)}};
  return source;
}

Source two_readings() {
  Source source;
  source.rules = {{"one", choice({rule(1), rule(2)})},
                  {"first", sequence({bytes("{\"name\":"), quoted(0, 5), bytes(",\"on\":1}")})},
                  {"second", sequence({bytes("{\"name\":"), quoted(3, kEndless), bytes(",\"off\":2}")})}};
  return source;
}

Source tool_calls(bool again, bool may_end) {
  Source source;
  mote::grammar::Node free;
  free.kind = mote::grammar::Node::Kind::free;
  free.texts = {"<tool>"};
  free.parts = {rule(1)};
  free.again = again;
  free.least = may_end ? 0 : 1;
  source.rules = {{"the text", std::make_shared<const mote::grammar::Node>(free)},
                  {"a call", sequence({bytes("{\"name\":"), quoted(0, kEndless), bytes("}")})}};
  return source;
}

std::vector<Source> sources() {
  return {expression("a{0,3}(bc)*"),
          expression("(on|off|open) [0-9]{2,70}"),
          expression("[^\"]{5,200}!"),
          expression("(ab?){0,90}c"),
          expression("[a-z]{3,}[0-9]{90}"),
          expression(".*"),
          expression("(a|aa|aaa)*b"),
          mote::grammar::choice_source({"on", "off", "open", "", "na"}),
          nested(),
          two_readings(),
          tool_calls(true, true),
          tool_calls(false, false)};
}

/// Compares on every state of some random answers.
void compare(const Source& source, const test::Words& words, bool masks, uint32_t seed) {
  const test::Tables tables(source, words, masks);
  std::mt19937 random(seed);
  for (int answer = 0; answer < 4; ++answer) {
    test::Matcher matcher(tables);
    const uint32_t limit = answer % 2 == 0 ? UINT32_MAX : matcher.need() + test::below(random, 6);
    std::string text;
    for (uint32_t i = 0; i < 14; ++i) {
      const uint32_t left = limit == UINT32_MAX ? limit : limit - i;
      if (left == 0) break;
      const std::vector<int32_t> ids = matcher.allowed(left);
      INFO("masks " << masks << ", after: " << text << ", tokens left: " << left);
      REQUIRE(matcher.accepted(left) == ids);
      if (ids.empty()) break;
      const int32_t id = ids[test::below(random, ids.size())];
      REQUIRE(matcher.accept(id));
      if (id == words.stop()) break;
      text += words.text(id);
    }
  }
}

}  // namespace

TEST("A mask has the ids that a copy of the matcher accepts, with stored masks and without", "[grammar]") {
  const auto words = test::byte_level_words();
  uint32_t number = 0;
  for (const Source& source : sources()) {
    INFO("source " << number++);
    compare(source, *words, true, number);
    compare(source, *words, false, number);
  }
}

TEST("States that much of the vocabulary follows have stored masks, with levels for what a bound leaves",
     "[grammar]") {
  const auto words = test::byte_level_words();
  const auto header_of = [&](const Source& source) {
    const std::vector<uint8_t> tables = mote::grammar::compile(source, nullptr);
    TEST_ASSERT_EQUAL_UINT32(0, mote::grammar::sizes_of(tables).masks);
    const mote::grammar::VocabularyTrie trie = words->trie();
    return mote::grammar::sizes_of(mote::grammar::compile(source, &trie));
  };
  TEST_ASSERT_TRUE(header_of(expression(".*")).masks > 0);
  TEST_ASSERT_TRUE(header_of(expression("\"[^\"]{3,90}\"")).masks > 0);
  TEST_ASSERT_TRUE(header_of(tool_calls(true, true)).masks > 0);
}

TEST("Every random answer within a limit of tokens is whole", "[grammar]") {
  const auto words = test::byte_level_words();
  std::mt19937 random(3);
  uint32_t number = 0;
  for (const Source& source : sources()) {
    INFO("source " << number++);
    const test::Tables tables(source, *words, true);
    const uint32_t need = test::Matcher(tables).need();
    for (uint32_t i = 0; i < 60; ++i) test::random_answer(tables, need + i * i / 20, random);
  }
}

TEST("With fewer tokens than the shortest answer takes nothing is allowed, and the sentence says how many",
     "[grammar]") {
  const auto words = test::byte_level_words();
  const test::Tables tables(expression("hello (hello){2}"), *words, true);
  test::Matcher matcher(tables);
  TEST_ASSERT_EQUAL_UINT32(4, matcher.need());
  TEST_ASSERT_TRUE(matcher.allowed(3).empty());
  TEST_ASSERT_EQUAL_UINT32(1, matcher.allowed(4).size());
  std::vector<uint32_t> mask((words->count() + 31) / 32);
  std::vector<uint64_t> scratch(mote_matcher_scratch_bytes(&tables.open()) / 8 + 1);
  mote_error error{};
  TEST_ASSERT_EQUAL_INT(MOTE_TOO_SMALL, mote_matcher_allow(matcher.get(), 3, mask.data(), scratch.data(),
                                                           scratch.size() * 8, &error));
  TEST_ASSERT_EQUAL_STRING("the shortest answer of the grammar takes 4 tokens, there are 3", error.text);
}

TEST("Text that must come is given byte by byte, and free text goes to its trigger when it is forced",
     "[grammar]") {
  const auto words = test::byte_level_words();
  const test::Tables tables(tool_calls(false, false), *words, true);
  test::Matcher matcher(tables);
  TEST_ASSERT_EQUAL_INT(1, mote_matcher_is_free(matcher.get()));
  TEST_ASSERT_TRUE(matcher.accept_text("hi <to"));
  mote_matcher_force_trigger(matcher.get());
  char text[32] = {};
  const size_t written = mote_matcher_forced(matcher.get(), text, sizeof text);
  TEST_ASSERT_EQUAL_STRING("ol>{\"name\":\"", std::string(text, written).c_str());
  TEST_ASSERT_TRUE(matcher.accept_text("ol>{\"name\":\"a\"}"));
  TEST_ASSERT_EQUAL_INT(2, matcher.finished());
}

TEST("A matcher is a few hundred bytes, however much its counters may count", "[grammar]") {
  const auto words = test::byte_level_words();
  const test::Tables few(expression("a[^b]{0,30}b"), *words, false),
      many(expression("a[^b]{0,100000}b"), *words, false);
  TEST_ASSERT_EQUAL_UINT32(mote_matcher_bytes(&few.open()), mote_matcher_bytes(&many.open()));
  TEST_ASSERT_TRUE(mote_matcher_bytes(&many.open()) < 1000);
  TEST_ASSERT_EQUAL_UINT32(few.bytes().size(), many.bytes().size());
  TEST_ASSERT_TRUE(test::accepts(many, "a" + std::string(100000, 'x') + "b"));
  TEST_ASSERT_FALSE(test::accepts(many, "a" + std::string(100001, 'x') + "b"));
}
