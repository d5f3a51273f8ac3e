// SPDX-License-Identifier: Apache-2.0
#include "host/base/error.h"
#include "host/grammar/gbnf.h"
#include "tests/grammar/grammar_case.h"

namespace {

std::string refusal(const std::string& text) {
  try {
    mote::grammar::compile(mote::grammar::gbnf_source(text), nullptr);
  } catch (const mote::convert::Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST("A grammar in llama.cpp's notation accepts its texts and no others", "[grammar]") {
  const auto words = test::byte_level_words();
  const test::Tables sums(mote::grammar::gbnf_source(R"_(# sums of a line each
root  ::= (expr "=" ws term "\n")+
expr  ::= term ([-+*/] term)*
term  ::= ident | num | "(" ws expr ")" ws
ident ::= [a-z] [a-z0-9_]* ws   # a name
num   ::= [0-9]{1,3} ws
ws    ::= [ \t\n]*
)_"),
                          *words, true);
  TEST_ASSERT_TRUE(test::accepts(sums, "a=1\n"));
  TEST_ASSERT_TRUE(test::accepts(sums, "x_1 +20*(b -3) = 7\nz=z\n"));
  TEST_ASSERT_FALSE(test::accepts(sums, "1234=1\n"));
  TEST_ASSERT_FALSE(test::accepts(sums, "a=\n"));
  const test::Tables moves(
      mote::grammar::gbnf_source(
          "root ::= \"1. \" move \" \" move \"\\n\" ([1-9] [0-9]? \". \" move \" \" move \"\\n\")+\n"
          "move ::= (pawn | nonpawn | castle) [+#]?\n"
          "nonpawn ::= [NBKQR] [a-h]? [1-8]? \"x\"? [a-h] [1-8]\n"
          "pawn ::= ([a-h] \"x\")? [a-h] [1-8] (\"=\" [NBKQR])?\n"
          "castle ::= \"O-O\" \"-O\"?\n"),
      *words, true);
  TEST_ASSERT_TRUE(test::accepts(moves, "1. e4 e5\n2. Nf3 Nc6\n3. O-O O-O-O\n"));
  TEST_ASSERT_FALSE(test::accepts(moves, "1. e4\n"));
  const test::Tables characters(
      mote::grammar::gbnf_source("root ::=\n  [^\"\\\\\\x7F\\x00-\\x1F] |\n  \"\\u00e9\" .\n"), *words,
      false);
  TEST_ASSERT_TRUE(test::accepts(characters, "\xC3\xA9z"));
  TEST_ASSERT_TRUE(test::accepts(characters, "\xE2\x82\xAC"));
  TEST_ASSERT_FALSE(test::accepts(characters, "\""));
}

TEST("A grammar that is none is refused with its line and column", "[grammar]") {
  TEST_ASSERT_EQUAL_STRING("the grammar: there is no rule \"root\"", refusal("a ::= \"b\"").c_str());
  TEST_ASSERT_EQUAL_STRING("the grammar: there is no rule \"b\"", refusal("root ::= b").c_str());
  TEST_ASSERT_EQUAL_STRING("the grammar: line 2, column 6: expected ::=", refusal("\nroot = b").c_str());
  TEST_ASSERT_EQUAL_STRING("the grammar: line 1, column 14: a text that does not end",
                           refusal("root ::= \"abc").c_str());
  TEST_ASSERT_EQUAL_STRING(
      "the rule \"root\" begins with itself: a rule must write something before it comes to itself again",
      refusal("root ::= root \"a\" | \"b\"").c_str());
}
