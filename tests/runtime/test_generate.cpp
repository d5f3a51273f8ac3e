// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "tests/support/test_model.h"

namespace {

const test::OpenModel& llama() {
  static const test::OpenModel model(test::golden_file("llama", "f32"));
  return model;
}

struct Result {
  std::vector<int32_t> ids;
  mote_finish finish = MOTE_FINISH_NONE;
};

Result generate(mote_session* session, const std::vector<int32_t>& prompt, const mote_generation& options,
                uint32_t cancel_after = 0) {
  struct Collector {
    Result result;
    uint32_t cancel_after;
  } collector{{}, cancel_after};
  const auto collect = [](void* user, int32_t id) -> int {
    Collector& c = *static_cast<Collector*>(user);
    c.result.ids.push_back(id);
    return c.result.ids.size() == c.cancel_after;
  };
  mote_error error{};
  const mote_status status = mote_generate(session, prompt.data(), static_cast<uint32_t>(prompt.size()),
                                           &options, collect, &collector, &collector.result.finish, &error);
  INFO(error.text);
  REQUIRE(status == MOTE_OK);
  return collector.result;
}

mote_generation tokens(uint32_t n) {
  mote_generation options = mote_generation_default();
  options.max_tokens = n;
  options.ignore_model_stops = 1;
  return options;
}

}  // namespace

TEST("greedy generation is prefill, argmax and decode") {
  const auto prompt = test::some_ids(9, 100);
  const test::OpenSession session(llama(), test::small_options(llama()));
  const Result result = generate(session.get(), prompt, tokens(6));
  TEST_ASSERT_EQUAL_INT(MOTE_FINISH_LENGTH, result.finish);
  TEST_ASSERT_EQUAL_UINT32(6, result.ids.size());
  const test::OpenSession other(llama(), test::small_options(llama()));
  auto logits = test::prefill(other.get(), prompt, 100);
  for (const int32_t id : result.ids) {
    const auto best = std::max_element(logits.begin(), logits.end()) - logits.begin();
    TEST_ASSERT_EQUAL_INT(best, id);
    TEST_ASSERT_EQUAL_INT(MOTE_OK, mote_decode(other.get(), &id, nullptr));
    logits = test::logits_of(other.get(), 100);
  }
  // The sequence holds the prompt and every reported token but the last.
  TEST_ASSERT_EQUAL_UINT32(9 + 5, mote_session_length(session.get(), 0));
}

TEST("steps of any size give the same tokens") {
  const auto prompt = test::some_ids(30, 100);
  mote_session_options options = test::small_options(llama());
  options.chunk = 8;
  const test::OpenSession session(llama(), options);
  const std::vector<int32_t> expected = generate(session.get(), prompt, tokens(5)).ids;
  for (const uint32_t max_ops : {1u, 3u, 1000u}) {
    TEST_ASSERT_EQUAL_INT(MOTE_OK, mote_session_truncate(session.get(), 0, 0, nullptr));
    const mote_generation generation = tokens(5);
    TEST_ASSERT_EQUAL_INT(MOTE_OK,
                          mote_generation_begin(session.get(), prompt.data(), 30, &generation, nullptr));
    std::vector<int32_t> ids;
    uint32_t steps = 0;
    mote_event event{};
    for (; event.finish == MOTE_FINISH_NONE; ++steps) {
      TEST_ASSERT_EQUAL_INT(MOTE_OK, mote_session_step(session.get(), max_ops, &event, nullptr));
      if (event.has_token != 0) ids.push_back(event.id);
    }
    TEST_ASSERT_TRUE(expected == ids);
    if (max_ops == 1) TEST_ASSERT_GREATER_THAN(100u, steps);
  }
  mote_event event{};
  TEST_ASSERT_EQUAL_INT(MOTE_WRONG_STATE, mote_session_step(session.get(), 1, &event, nullptr));
}

TEST("a stop id ends the generation and is reported") {
  const auto prompt = test::some_ids(9, 100);
  const test::OpenSession session(llama(), test::small_options(llama()));
  const std::vector<int32_t> free = generate(session.get(), prompt, tokens(8)).ids;
  mote_generation options = tokens(8);
  const int32_t stop = free[3];
  options.stop_ids = &stop;
  options.stop_count = 1;
  TEST_ASSERT_EQUAL_INT(MOTE_OK, mote_session_truncate(session.get(), 0, 0, nullptr));
  const Result stopped = generate(session.get(), prompt, options);
  TEST_ASSERT_EQUAL_INT(MOTE_FINISH_STOP, stopped.finish);
  TEST_ASSERT_EQUAL_INT(stop, stopped.ids.back());
  TEST_ASSERT_LESS_OR_EQUAL(4u, stopped.ids.size());
}

TEST("a callback cancels and the session continues from there") {
  const auto prompt = test::some_ids(9, 100);
  const test::OpenSession session(llama(), test::small_options(llama()));
  const std::vector<int32_t> whole = generate(session.get(), prompt, tokens(8)).ids;
  TEST_ASSERT_EQUAL_INT(MOTE_OK, mote_session_truncate(session.get(), 0, 0, nullptr));
  const Result cancelled = generate(session.get(), prompt, tokens(8), 3);
  TEST_ASSERT_EQUAL_INT(MOTE_FINISH_CANCELLED, cancelled.finish);
  TEST_ASSERT_EQUAL_UINT32(3, cancelled.ids.size());
  const Result rest = generate(session.get(), {cancelled.ids.back()}, tokens(5));
  TEST_ASSERT_TRUE(std::vector<int32_t>(whole.begin() + 3, whole.end()) == rest.ids);
}

namespace {

/// Greedy with a penalty that shows in a few tokens.
mote_generation penalized(uint32_t n) {
  mote_generation options = tokens(n);
  options.sampling.repetition_penalty = 1.8f;
  options.sampling.repetition_window = MOTE_REPETITION_WINDOW;
  return options;
}

}  // namespace

TEST(
    "the repetition penalty sees what the session holds: computed, truncated, restored, forked or "
    "reordered") {
  const auto prompt = test::some_ids(20, 100);
  const std::vector<int32_t> first(prompt.begin(), prompt.begin() + 15),
      rest(prompt.begin() + 15, prompt.end());
  mote_session_options options = test::small_options(llama());
  options.batch = 3;
  options.logit_rows = 3;
  const test::OpenSession whole(llama(), options);
  const std::vector<int32_t> expected = generate(whole.get(), prompt, penalized(12)).ids;
  {
    const test::OpenSession blind(llama(), options);  // the penalty matters
    TEST_ASSERT_FALSE(generate(blind.get(), prompt, tokens(12)).ids == expected);
  }
  const auto check = [&](mote_session* session, const std::vector<int32_t>& ids) {
    TEST_ASSERT_TRUE(generate(session, ids, penalized(12)).ids == expected);
  };
  const test::OpenSession session(llama(), options);
  test::prefill(session.get(), first, 100);
  check(session.get(), rest);
  REQUIRE(mote_session_truncate(session.get(), 0, 15, nullptr) == MOTE_OK);
  check(session.get(), rest);
  REQUIRE(mote_session_truncate(session.get(), 0, 0, nullptr) == MOTE_OK);
  test::prefill(session.get(), prompt, 100);
  check(session.get(), {});

  REQUIRE(mote_session_truncate(session.get(), 0, 15, nullptr) == MOTE_OK);
  test::AlignedBytes snapshot(mote_session_state_bytes(session.get()));
  REQUIRE(mote_session_save(session.get(), snapshot.data(), snapshot.size(), nullptr, nullptr) == MOTE_OK);
  const test::OpenSession restored(llama(), options);
  REQUIRE(mote_session_restore(restored.get(), snapshot.data(), snapshot.size(), nullptr) == MOTE_OK);
  check(restored.get(), rest);

  // Sequence 0 holds other tokens, and is then made of sequence 1, which was forked from it before.
  REQUIRE(mote_session_truncate(restored.get(), 0, 15, nullptr) == MOTE_OK);
  REQUIRE(mote_session_fork(restored.get(), 0, 1, nullptr) == MOTE_OK);
  REQUIRE(mote_session_truncate(restored.get(), 0, 0, nullptr) == MOTE_OK);
  test::prefill(restored.get(), test::some_ids(20, 90), 100);
  const uint32_t from[] = {1, 0, 1}, back[] = {2, 2, 1};
  REQUIRE(mote_session_reorder(restored.get(), from, nullptr) == MOTE_OK);
  check(restored.get(), rest);
  REQUIRE(mote_session_reorder(restored.get(), back, nullptr) == MOTE_OK);
  check(restored.get(), rest);
}

TEST("a full context ends the generation and says so") {
  mote_session_options options = test::small_options(llama());
  options.context = 12;
  const test::OpenSession session(llama(), options);
  const Result result = generate(session.get(), test::some_ids(9, 100), tokens(0));
  TEST_ASSERT_EQUAL_INT(MOTE_FINISH_CONTEXT, result.finish);
  TEST_ASSERT_EQUAL_UINT32(4, result.ids.size());
  TEST_ASSERT_EQUAL_UINT32(12, mote_session_length(session.get(), 0));
}

TEST("a generation without prompt continues from the logits at hand") {
  const auto prompt = test::some_ids(9, 100);
  const test::OpenSession session(llama(), test::small_options(llama()));
  mote_generation options = tokens(4);
  mote_error error{};
  TEST_ASSERT_EQUAL_INT(MOTE_WRONG_STATE, mote_generation_begin(session.get(), nullptr, 0, &options, &error));
  const std::vector<int32_t> expected = generate(session.get(), prompt, options).ids;
  TEST_ASSERT_EQUAL_INT(MOTE_OK, mote_session_truncate(session.get(), 0, 0, &error));
  test::prefill(session.get(), prompt, 100);
  TEST_ASSERT_TRUE(expected == generate(session.get(), {}, options).ids);
}
