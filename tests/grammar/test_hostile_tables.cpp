// SPDX-License-Identifier: Apache-2.0
#include "host/grammar/request.h"
#include "tests/grammar/schema_case.h"

namespace {

/// Opens tables with some bytes changed, and uses them where that is not refused.
void try_tables(const test::AlignedTables& changed, const test::Words& words) {
  mote_error error{};
  mote_grammar open{};
  const mote_status status = mote_grammar_open(changed.data(), changed.size(), &words.open(), &open, &error);
  if (status != MOTE_OK) {
    CHECK(error.text[0] != '\0');
    return;
  }
  std::vector<uint64_t> memory(mote_matcher_bytes(&open) / 8 + 1),
      scratch(mote_matcher_scratch_bytes(&open) / 8 + 1);
  std::vector<uint32_t> mask((words.count() + 31) / 32);
  mote_matcher* matcher = nullptr;
  REQUIRE(mote_matcher_init(memory.data(), memory.size() * 8, &open, &matcher, nullptr) == MOTE_OK);
  for (int32_t id : {123, 34, 97, 34, 58, 91, 49, 44}) {
    (void)mote_matcher_allow(matcher, 9, mask.data(), scratch.data(), scratch.size() * 8, nullptr);
    (void)mote_matcher_accept(matcher, id, nullptr);
    char text[16];
    (void)mote_matcher_forced(matcher, text, sizeof text);
  }
}

}  // namespace

TEST("Tables with any byte changed are refused with a sentence, or harmless", "[grammar]") {
  const auto words = test::byte_level_words();
  const mote::grammar::Source source = test::schema_source(
      R"({"type":"object","properties":{"a":{"type":"array","items":{"type":"integer","maximum":9},"maxItems":70},"b":{"type":"string","maxLength":80}},"required":["a"]})");
  const test::Tables tables(source, *words, true);
  std::mt19937 random(9);
  const std::vector<uint8_t> bytes(
      static_cast<const uint8_t*>(tables.bytes().data()),
      static_cast<const uint8_t*>(tables.bytes().data()) + tables.bytes().size());
  for (uint32_t i = 0; i < 6000; ++i) {
    std::vector<uint8_t> changed = bytes;
    const size_t at = i < 400 ? i % changed.size() : test::below(random, changed.size());
    changed[at] = static_cast<uint8_t>(random());
    if (i % 3 == 0) changed[test::below(random, changed.size())] = 0xFF;
    try_tables(test::AlignedTables(changed), *words);
  }
  for (size_t size = 0; size < bytes.size(); size += 1 + bytes.size() / 60)
    try_tables(test::AlignedTables({bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(size)}), *words);
}

TEST("A vocabulary with any byte changed is refused with a sentence, or harmless", "[grammar]") {
  const auto words = test::byte_level_words();
  const uint8_t* const begin = static_cast<const uint8_t*>(words->tables().data());
  const std::vector<uint8_t> bytes(begin, begin + words->tables().size());
  const std::vector<uint8_t> grammar =
      mote::grammar::compile(test::schema_source(R"({"type":"string"})"), nullptr);
  const test::AlignedTables kept(grammar);
  std::mt19937 random(10);
  for (uint32_t i = 0; i < 3000; ++i) {
    std::vector<uint8_t> changed = bytes;
    changed[i < 40 ? i : test::below(random, changed.size())] = static_cast<uint8_t>(random());
    const test::AlignedTables tables(changed);
    mote_vocabulary open{};
    mote_error error{};
    if (mote_vocabulary_open(tables.data(), tables.size(), nullptr, 0, &open, &error) != MOTE_OK) {
      CHECK(error.text[0] != '\0');
      continue;
    }
    mote_grammar of_it{};
    REQUIRE(mote_grammar_open(kept.data(), kept.size(), &open, &of_it, nullptr) == MOTE_OK);
    std::vector<uint64_t> memory(mote_matcher_bytes(&of_it) / 8 + 1),
        scratch(mote_matcher_scratch_bytes(&of_it) / 8 + 1);
    std::vector<uint32_t> mask((open.vocab + 31) / 32);
    mote_matcher* matcher = nullptr;
    REQUIRE(mote_matcher_init(memory.data(), memory.size() * 8, &of_it, &matcher, nullptr) == MOTE_OK);
    (void)mote_matcher_allow(matcher, 5, mask.data(), scratch.data(), scratch.size() * 8, nullptr);
    (void)mote_matcher_accept(matcher, 34, nullptr);
    (void)mote_matcher_allow(matcher, 5, mask.data(), scratch.data(), scratch.size() * 8, nullptr);
  }
}

TEST("Masks of another vocabulary are refused", "[grammar]") {
  const auto words = test::byte_level_words();
  const test::Words other({"a", "b", "</s>"});
  const test::Tables tables(test::schema_source(R"({"type":"string"})"), *words, true);
  mote_grammar open{};
  mote_error error{};
  TEST_ASSERT_EQUAL_INT(MOTE_INVALID_ARGUMENT, mote_grammar_open(tables.bytes().data(), tables.bytes().size(),
                                                                 &other.open(), &open, &error));
  TEST_ASSERT_EQUAL_STRING(
      "the grammar's masks are of another vocabulary: compile it for this model, or for none", error.text);
}
