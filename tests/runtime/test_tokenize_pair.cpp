// SPDX-License-Identifier: Apache-2.0
//
// Two texts through the C interface.
#include "tests/support/test_model.h"

namespace {

struct TextPair {
  mote_status status;
  std::vector<int32_t> ids;
  std::vector<mote_span> spans;
  std::vector<mote_token_kind> kinds;
  mote_error error;
};

TextPair tokenize(mote_session* session, const char* first, const char* second, uint32_t flags,
                  uint32_t capacity = 32) {
  TextPair pair{MOTE_OK,
                std::vector<int32_t>(capacity),
                std::vector<mote_span>(capacity),
                std::vector<mote_token_kind>(capacity),
                {}};
  uint32_t count = 0;
  pair.status = mote_tokenize_pair(session, first, std::strlen(first), second,
                                   second == nullptr ? 0 : std::strlen(second), flags, pair.ids.data(),
                                   capacity, &count, pair.spans.data(), pair.kinds.data(), &pair.error);
  if (pair.status == MOTE_OK) {
    pair.ids.resize(count);
    pair.spans.resize(count);
    pair.kinds.resize(count);
  }
  return pair;
}

class PairSession {
 public:
  PairSession() : model_(test::pair_file()), session_(model_, test::small_options(model_)) {}
  mote_session* get() const { return session_.get(); }

 private:
  test::OpenModel model_;
  test::OpenSession session_;
};

}  // namespace

TEST("a question and a text are put together with their types and places", "[text]") {
  const PairSession session;
  const TextPair pair = tokenize(session.get(), "Who went?", "They went to CAF\u00C9S.", MOTE_ADD_SPECIAL);
  REQUIRE(pair.status == MOTE_OK);
  //                              [CLS] who went ? [SEP] the ##y went [UNK] cafe ##s . [SEP]
  REQUIRE(pair.ids == std::vector<int32_t>{2, 4, 5, 7, 3, 8, 9, 5, 1, 10, 11, 12, 3});
  std::vector<int> types, texts;
  for (const mote_token_kind kind : pair.kinds) {
    types.push_back(kind.type);
    texts.push_back(kind.text);
  }
  REQUIRE(types == std::vector<int>{0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1});
  REQUIRE(texts == std::vector<int>{255, 0, 0, 0, 255, 1, 1, 1, 1, 1, 1, 1, 255});
  TEST_ASSERT_EQUAL_UINT32(13, pair.spans[9].begin);  // bytes of the second text
  TEST_ASSERT_EQUAL_UINT32(18, pair.spans[9].end);
  TEST_ASSERT_EQUAL_UINT32(0, pair.spans[12].end);
}

TEST("without a second text, or without added tokens, only the texts are there", "[text]") {
  const PairSession session;
  REQUIRE(tokenize(session.get(), "who", nullptr, MOTE_ADD_SPECIAL).ids == std::vector<int32_t>{2, 4, 3});
  const TextPair plain = tokenize(session.get(), "who", "went", 0);
  REQUIRE(plain.ids == std::vector<int32_t>{4, 5});
  TEST_ASSERT_EQUAL_UINT32(0, plain.kinds[0].type);
  TEST_ASSERT_EQUAL_UINT32(1, plain.kinds[1].type);
  REQUIRE(tokenize(session.get(), "", "", MOTE_ADD_SPECIAL).ids == std::vector<int32_t>{2, 3, 3});
}

TEST("a word of too many characters is unknown, and so is one with a gap", "[text]") {
  const PairSession session;
  REQUIRE(tokenize(session.get(), "thethethe homes", nullptr, 0).ids == std::vector<int32_t>{1, 6, 11});
  REQUIRE(tokenize(session.get(), "homex", nullptr, 0).ids == std::vector<int32_t>{1});
}

TEST("a pair that does not fit is counted, null pointers and unknown flags are refused", "[text]") {
  const PairSession session;
  uint32_t count = 0;
  mote_error error{};
  TEST_ASSERT_EQUAL_INT(MOTE_TOO_SMALL,
                        mote_tokenize_pair(session.get(), "who", 3, "went", 4, MOTE_ADD_SPECIAL, nullptr, 0,
                                           &count, nullptr, nullptr, &error));
  TEST_ASSERT_EQUAL_UINT32(5, count);
  TEST_ASSERT_EQUAL_INT(MOTE_INVALID_ARGUMENT,
                        mote_tokenize_pair(session.get(), "who", 3, nullptr, 4, 0, nullptr, 0, &count,
                                           nullptr, nullptr, &error));
  TEST_ASSERT_EQUAL_INT(MOTE_INVALID_ARGUMENT, tokenize(session.get(), "who", "went", 16).status);
}

TEST("truncation cuts the last text and keeps what is added around, or refuses", "[text]") {
  const PairSession session;
  const auto cut = [&](uint32_t capacity, const char* second, std::vector<int32_t>* ids) {
    ids->assign(capacity, -1);
    uint32_t count = 0;
    mote_error error{};
    return mote_tokenize_pair(session.get(), "who went", 8, second, second == nullptr ? 0 : 9,
                              MOTE_ADD_SPECIAL | MOTE_TRUNCATE, ids->data(), capacity, &count, nullptr,
                              nullptr, &error);
  };
  std::vector<int32_t> ids;
  TEST_ASSERT_EQUAL_INT(MOTE_OK, cut(6, "went home", &ids));  // [CLS] who went [SEP] went [SEP]
  TEST_ASSERT_TRUE(ids == std::vector<int32_t>({2, 4, 5, 3, 5, 3}));
  TEST_ASSERT_EQUAL_INT(MOTE_OK, cut(5, "went home", &ids));
  TEST_ASSERT_TRUE(ids == std::vector<int32_t>({2, 4, 5, 3, 3}));
  TEST_ASSERT_EQUAL_INT(MOTE_TOO_SMALL, cut(4, "went home", &ids));  // the first is never cut
  TEST_ASSERT_EQUAL_INT(MOTE_OK, cut(3, nullptr, &ids));
  TEST_ASSERT_TRUE(ids == std::vector<int32_t>({2, 4, 3}));
  TEST_ASSERT_EQUAL_INT(MOTE_TOO_SMALL, cut(1, nullptr, &ids));
}

TEST("a pair that is too long loses the ends of the longer text, then of both", "[text]") {
  const PairSession session;
  struct Cut {
    uint32_t first, second, room, kept_first, kept_second;
  };
  // Of Hugging Face's tokenizers 0.23 with the strategy longest_first.
  constexpr Cut kCuts[] = {{1, 1, 4, 0, 1}, {2, 3, 8, 2, 3}, {8, 1, 8, 4, 1}, {1, 8, 8, 1, 4},
                           {8, 8, 8, 2, 3}, {8, 8, 9, 3, 3}, {5, 4, 9, 3, 3}, {8, 2, 6, 2, 1},
                           {2, 8, 6, 1, 2}, {6, 0, 6, 3, 0}, {0, 6, 6, 0, 3}, {7, 3, 3, 0, 0},
                           {7, 3, 4, 1, 0}, {3, 7, 5, 1, 1}};
  const auto words = [](uint32_t count) {
    std::string text;
    for (uint32_t i = 0; i < count; ++i) text += i % 2 == 0 ? "who " : "went ";
    return text;
  };
  for (const Cut& cut : kCuts) {
    CAPTURE(cut.first, cut.second, cut.room);
    const std::string first = words(cut.first), second = words(cut.second);
    std::vector<int32_t> ids(cut.room);
    std::vector<mote_token_kind> kinds(cut.room);
    uint32_t count = 0;
    mote_error error{};
    REQUIRE(mote_tokenize_pair(session.get(), first.data(), first.size(), second.data(), second.size(),
                               MOTE_ADD_SPECIAL | MOTE_TRUNCATE | MOTE_CUT_LONGER, ids.data(), cut.room,
                               &count, nullptr, kinds.data(), &error) == MOTE_OK);
    TEST_ASSERT_EQUAL_UINT32(cut.first + cut.second + 3, count);
    std::vector<int32_t> expected = {2};
    for (uint32_t i = 0; i < cut.kept_first; ++i) expected.push_back(i % 2 == 0 ? 4 : 5);
    expected.push_back(3);
    for (uint32_t i = 0; i < cut.kept_second; ++i) expected.push_back(i % 2 == 0 ? 4 : 5);
    expected.push_back(3);
    REQUIRE(ids == expected);
  }
  uint32_t count = 0;
  int32_t two[2];
  TEST_ASSERT_EQUAL_INT(MOTE_TOO_SMALL, mote_tokenize_pair(session.get(), "who", 3, "went", 4,
                                                           MOTE_ADD_SPECIAL | MOTE_TRUNCATE | MOTE_CUT_LONGER,
                                                           two, 2, &count, nullptr, nullptr, nullptr));
}
