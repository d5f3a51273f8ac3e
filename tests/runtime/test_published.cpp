// SPDX-License-Identifier: Apache-2.0
//
// What a run makes can be read when it is done, and not before.
#include "tests/support/every_golden.h"

namespace {

/// Begins a run of three tokens of sequence 0 whose outputs are wanted, and does one operation of it.
void begin_and_step(mote_session* session, const std::vector<int32_t>& ids) {
  const mote_row rows[] = {{0, ids[0], 0, 1}, {0, ids[1], 0, 1}, {0, ids[2], 0, 1}};
  mote_rows call{};
  call.rows = rows;
  call.count = 3;
  int done = 0;
  REQUIRE(mote_compute_begin(session, &call, nullptr) == MOTE_OK);
  REQUIRE(mote_compute_step(session, 1, &done, nullptr) == MOTE_OK);
  REQUIRE(done == 0);
}

mote_session_options published_options(const test::OpenModel& model) {
  mote_session_options options = test::small_options(model);
  options.logit_rows = 8;
  return options;
}

}  // namespace

TEST("a run that is not done has no logits to read, to sample from or to save") {
  const test::OpenModel model(test::golden_file("llama", "f32"));
  const auto ids = test::some_ids(3, model.info().vocab);
  const test::OpenSession fresh(model, published_options(model)), begun(model, published_options(model));
  begin_and_step(begun.get(), ids);
  int32_t id = -1;
  for (uint32_t row = 0; row < 3; ++row) {
    TEST_ASSERT_NULL(mote_session_logits(begun.get(), row));
    TEST_ASSERT_NULL(mote_session_output(begun.get(), row));
    TEST_ASSERT_EQUAL_INT(MOTE_WRONG_STATE, mote_sample(begun.get(), row, &id, nullptr));
  }
  TEST_ASSERT_EQUAL_UINT32(mote_session_state_bytes(fresh.get()), mote_session_state_bytes(begun.get()));
  int done = 0;
  while (done == 0) REQUIRE(mote_compute_step(begun.get(), 1, &done, nullptr) == MOTE_OK);
  for (uint32_t row = 0; row < 3; ++row) TEST_ASSERT_NOT_NULL(mote_session_logits(begun.get(), row));
}

TEST("logits that a generation has sampled from are not sampled from again, also after a snapshot") {
  const test::OpenModel model(test::golden_file("llama", "f32"));
  const auto ids = test::some_ids(5, model.info().vocab);
  const test::OpenSession session(model, published_options(model)), other(model, published_options(model));
  mote_generation generation = mote_generation_default();
  generation.max_tokens = 4;
  generation.ignore_model_stops = 1;
  REQUIRE(mote_generation_begin(session.get(), ids.data(), 5, &generation, nullptr) == MOTE_OK);
  mote_event event{};
  while (event.has_token == 0) REQUIRE(mote_session_step(session.get(), 1, &event, nullptr) == MOTE_OK);
  test::AlignedBytes state(mote_session_state_bytes(session.get()));
  REQUIRE(mote_session_save(session.get(), state.data(), state.size(), nullptr, nullptr) == MOTE_OK);
  REQUIRE(mote_session_restore(other.get(), state.data(), state.size(), nullptr) == MOTE_OK);
  int32_t again = -1;
  TEST_ASSERT_EQUAL_INT(MOTE_WRONG_STATE, mote_sample(other.get(), 0, &again, nullptr));
  TEST_ASSERT_EQUAL_INT(MOTE_WRONG_STATE,
                        mote_generation_begin(other.get(), nullptr, 0, &generation, nullptr));
  // With the reported token the other session goes on as this one does.
  REQUIRE(mote_prefill(other.get(), 0, &event.id, 1, MOTE_LOGITS_LAST, nullptr) == MOTE_OK);
  REQUIRE(mote_sample(other.get(), 0, &again, nullptr) == MOTE_OK);
  do REQUIRE(mote_session_step(session.get(), 1, &event, nullptr) == MOTE_OK);
  while (event.has_token == 0);
  TEST_ASSERT_EQUAL_INT32(event.id, again);
}

TEST("a sequence that a decoding step leaves out has no row until and after the step") {
  const test::OpenModel model(test::golden_file("llama", "f32"));
  mote_session_options options = published_options(model);
  options.batch = 3;
  const test::OpenSession session(model, options);
  const int32_t ids[] = {4, -1, 5};
  REQUIRE(mote_decode(session.get(), ids, nullptr) == MOTE_OK);
  TEST_ASSERT_NOT_NULL(mote_session_logits(session.get(), 0));
  TEST_ASSERT_NULL(mote_session_logits(session.get(), 1));
  TEST_ASSERT_NOT_NULL(mote_session_logits(session.get(), 2));
}
