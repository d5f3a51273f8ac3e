// SPDX-License-Identifier: Apache-2.0
//
// Segments of a model with a memory.
#include "tests/support/test_model.h"

namespace {

const test::OpenModel& memory_model() {
  static const test::OpenModel model(test::golden_file("transformer_xl", "f32"));
  return model;
}

mote_session_options memory_session(uint32_t batch) {
  mote_session_options options = mote_session_options_default(memory_model().get());
  options.context = options.chunk = 64;
  options.batch = options.logit_rows = batch;
  return options;
}

constexpr uint32_t kMemory = 15;

}  // namespace

TEST("a segment sees as many tokens before it as the memory has, and its own", "[segments]") {
  const uint32_t vocab = memory_model().info().vocab;
  const auto before = test::some_ids(30, vocab, 1), other = test::some_ids(30, vocab, 2),
             after = test::some_ids(5, vocab, 3);
  const auto logits = [&](const std::vector<int32_t>& first) {
    const test::OpenSession session(memory_model(), memory_session(1));
    test::prefill(session.get(), first, vocab);
    REQUIRE(mote_session_begin_segment(session.get(), 0, nullptr) == MOTE_OK);
    return test::prefill(session.get(), after, vocab);
  };
  const std::vector<float> expected = logits(before);
  // The first token that the memory has.
  std::vector<int32_t> seen = before;
  seen[30 - kMemory] = other[0] == before[30 - kMemory] ? (other[0] + 1) % 100 : other[0];
  TEST_ASSERT_FALSE(logits(seen) == expected);
  const test::OpenSession whole(memory_model(), memory_session(1));
  test::prefill(whole.get(), before, vocab);
  TEST_ASSERT_FALSE(test::prefill(whole.get(), after, vocab) == expected);
}

TEST("what a memory no longer has reaches no further segment", "[segments]") {
  constexpr uint32_t kSegments = 4;
  const uint32_t vocab = memory_model().info().vocab;
  const std::vector<int32_t> ids = test::some_ids(kSegments * kMemory, vocab, 4);
  const auto changed = [&](uint32_t at) {
    std::vector<int32_t> others = ids;
    others[at] = (ids[at] + 1) % static_cast<int32_t>(vocab);
    return others;
  };
  const auto logits_of_last = [&](const std::vector<int32_t>& tokens) {
    const test::OpenSession session(memory_model(), memory_session(1));
    std::vector<float> all;
    for (uint32_t i = 0; i < tokens.size(); ++i) {
      if (i != 0 && i % kMemory == 0)
        REQUIRE(mote_session_begin_segment(session.get(), 0, nullptr) == MOTE_OK);
      const std::vector<float> one = test::prefill(session.get(), {tokens[i]}, vocab);
      if (i >= (kSegments - 1) * kMemory) all.insert(all.end(), one.begin(), one.end());
    }
    return all;
  };
  // The last segment begins at token 45. Its second layer reads what the first made of tokens 30 and on, and
  // of those the first 15 saw tokens 15 and on.
  const std::vector<float> expected = logits_of_last(ids);
  TEST_ASSERT_TRUE(logits_of_last(changed(kMemory - 1)) == expected);
  TEST_ASSERT_FALSE(logits_of_last(changed(kMemory)) == expected);
}

TEST("copies of a sequence are in its segment, and an emptied one is in its first", "[segments]") {
  const uint32_t vocab = memory_model().info().vocab;
  const auto before = test::some_ids(30, vocab, 1), after = test::some_ids(5, vocab, 3);
  const test::OpenSession session(memory_model(), memory_session(3)),
      plain(memory_model(), memory_session(1));
  test::prefill(session.get(), before, vocab);
  REQUIRE(mote_session_begin_segment(session.get(), 0, nullptr) == MOTE_OK);
  REQUIRE(mote_session_fork(session.get(), 0, 1, nullptr) == MOTE_OK);
  const std::vector<float> expected = test::prefill(session.get(), after, vocab, 0);
  TEST_ASSERT_TRUE(test::prefill(session.get(), after, vocab, 1) == expected);
  const uint32_t from[] = {2, 1, 0};
  REQUIRE(mote_session_truncate(session.get(), 0, 30, nullptr) == MOTE_OK);
  REQUIRE(mote_session_reorder(session.get(), from, nullptr) == MOTE_OK);
  TEST_ASSERT_TRUE(test::prefill(session.get(), after, vocab, 2) == expected);
  REQUIRE(mote_session_truncate(session.get(), 2, 0, nullptr) == MOTE_OK);
  TEST_ASSERT_TRUE(test::prefill(session.get(), before, vocab, 2) ==
                   test::prefill(plain.get(), before, vocab));
}

TEST("segments are of models with a memory; tokens before one stay, and snapshots are of the first",
     "[segments]") {
  const uint32_t vocab = memory_model().info().vocab;
  const test::OpenModel other(test::golden_file("llama", "f32"));
  const test::OpenSession none(other, test::small_options(other));
  TEST_ASSERT_EQUAL_UINT32(0, mote_model_memory(other.get()));
  mote_error error{};
  REQUIRE(mote_session_begin_segment(none.get(), 0, &error) == MOTE_WRONG_STATE);
  const test::OpenSession session(memory_model(), memory_session(2));
  REQUIRE(mote_session_begin_segment(session.get(), 2, &error) == MOTE_INVALID_ARGUMENT);
  test::prefill(session.get(), test::some_ids(20, vocab), vocab);
  test::AlignedBytes saved(mote_session_state_bytes(session.get()));
  REQUIRE(mote_session_save(session.get(), saved.data(), saved.size(), nullptr, &error) == MOTE_OK);
  REQUIRE(mote_session_begin_segment(session.get(), 0, &error) == MOTE_OK);
  REQUIRE(mote_session_save(session.get(), saved.data(), saved.size(), nullptr, &error) == MOTE_WRONG_STATE);
  REQUIRE(mote_session_truncate(session.get(), 0, 19, &error) == MOTE_INVALID_ARGUMENT);
  REQUIRE(mote_session_restore(session.get(), saved.data(), saved.size(), &error) == MOTE_OK);
  REQUIRE(mote_session_truncate(session.get(), 0, 19, &error) == MOTE_OK);
}
