// SPDX-License-Identifier: Apache-2.0
//
// Opening tables, matchers and masks allocate nothing, and a copy of a matcher's bytes goes on as it would.
#include "tests/grammar/schema_case.h"
#include "tests/support/count_allocations.h"

TEST("Tables, matchers and masks allocate nothing", "[grammar]") {
  const auto words = test::byte_level_words();
  const test::Tables tables(
      test::schema_source(R"({"type":"array","items":{"type":"string","maxLength":9},"minItems":1})"), *words,
      true);
  std::vector<uint64_t> memory(mote_matcher_bytes(&tables.open()) / 8 + 1),
      scratch(mote_matcher_scratch_bytes(&tables.open()) / 8 + 1);
  std::vector<uint64_t> copy(memory.size());
  std::vector<uint32_t> mask((words->count() + 31) / 32), other(mask.size());
  test::calls = 0;
  test::counting = true;
  mote_grammar open{};
  bool works = mote_grammar_open(tables.bytes().data(), tables.bytes().size(), &words->open(), &open,
                                 nullptr) == MOTE_OK;
  mote_matcher* matcher = nullptr;
  works = works && mote_matcher_init(memory.data(), memory.size() * 8, &open, &matcher, nullptr) == MOTE_OK;
  for (const char byte : {'[', '"', 'a', '"', ','}) {
    works = works && mote_matcher_allow(matcher, 20, mask.data(), scratch.data(), scratch.size() * 8,
                                        nullptr) == MOTE_OK;
    works = works && mote_matcher_accept(matcher, static_cast<uint8_t>(byte), nullptr) == MOTE_OK;
  }
  memcpy(copy.data(), memory.data(), memory.size() * 8);
  auto* const copied = reinterpret_cast<mote_matcher*>(copy.data());
  works = works && mote_matcher_accept(matcher, '"', nullptr) == MOTE_OK &&
          mote_matcher_accept(copied, '"', nullptr) == MOTE_OK;
  works =
      works &&
      mote_matcher_allow(matcher, 20, mask.data(), scratch.data(), scratch.size() * 8, nullptr) == MOTE_OK &&
      mote_matcher_allow(copied, 20, other.data(), scratch.data(), scratch.size() * 8, nullptr) == MOTE_OK;
  test::counting = false;
  TEST_ASSERT_TRUE(works);
  TEST_ASSERT_EQUAL_UINT32(0, test::calls.load());
  TEST_ASSERT_TRUE(mask == other);
}
