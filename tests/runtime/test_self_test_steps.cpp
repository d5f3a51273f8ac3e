// SPDX-License-Identifier: Apache-2.0
//
// A file's own run replayed in steps, and its hashes part by part.
#include <cstring>

#include "tests/support/test_model.h"

namespace {

struct Replayed {
  mote_status status;
  mote_self_test result;
  uint32_t steps;
};

Replayed replay_in_steps(mote_session* session, uint32_t max_ops) {
  Replayed replayed{};
  REQUIRE(mote_self_test_begin(session, &replayed.result, nullptr) == MOTE_OK);
  for (int done = 0; done == 0; ++replayed.steps) {
    replayed.status = mote_self_test_step(session, &replayed.result, max_ops, &done, nullptr);
    REQUIRE((replayed.status == MOTE_OK || done == 1));
  }
  return replayed;
}

}  // namespace

TEST("a self test in steps of any size gives what it gives as a whole, for models of each kind") {
  for (const char* const name : {"llama", "bert", "vit_classifier", "t5", "whisper", "parakeet_tdt",
                                 "wav2vec2_ctc", "bert_sentence_dense", "moonshine", "vits"}) {
    CAPTURE(name);
    const test::OpenModel model(test::golden_file(name, "f32"));
    const test::OpenSession session(model, mote_session_options_default(model.get()));
    mote_self_test whole{};
    REQUIRE(mote_session_self_test(session.get(), &whole, nullptr) == MOTE_OK);
    uint32_t before = UINT32_MAX;
    for (const uint32_t max_ops : {1u, 7u, 0u}) {
      const Replayed replayed = replay_in_steps(session.get(), max_ops);
      CAPTURE(max_ops, replayed.steps);
      TEST_ASSERT_EQUAL_INT(MOTE_OK, replayed.status);
      TEST_ASSERT_EQUAL_INT(0, std::memcmp(&whole, &replayed.result, sizeof whole));
      TEST_ASSERT_LESS_THAN(before, replayed.steps);
      before = replayed.steps;
      TEST_ASSERT_EQUAL_UINT32(0, mote_session_length(session.get(), 0));
    }
    TEST_ASSERT_EQUAL_UINT32(1, before);
  }
}

TEST("a self test in steps fails where weights differ, and ends where another call computes") {
  test::AlignedBytes bytes = test::golden_file("llama", "f32");
  {
    const test::OpenModel model(bytes);
    const test::OpenSession session(model, mote_session_options_default(model.get()));
    mote_self_test result{};
    int done = 0;
    REQUIRE(mote_self_test_begin(session.get(), &result, nullptr) == MOTE_OK);
    REQUIRE(mote_self_test_step(session.get(), &result, 1, &done, nullptr) == MOTE_OK);
    const int32_t id = 1;
    REQUIRE(mote_prefill(session.get(), 0, &id, 1, MOTE_LOGITS_LAST, nullptr) == MOTE_OK);
    TEST_ASSERT_EQUAL_INT(MOTE_WRONG_STATE, mote_self_test_step(session.get(), &result, 1, &done, nullptr));
    for (uint32_t part = 0; part < mote_model_parts(model.get()); ++part)
      TEST_ASSERT_EQUAL_INT(MOTE_OK, mote_model_check_part(model.get(), part, nullptr));
    TEST_ASSERT_EQUAL_INT(MOTE_INVALID_ARGUMENT,
                          mote_model_check_part(model.get(), mote_model_parts(model.get()), nullptr));
  }
  // Weights of the last tensor that has any, turned around.
  uint8_t* const last = bytes.data() + bytes.size() - 4096;
  for (size_t i = 0; i < 4096; i += 4) last[i + 3] ^= 0x80;
  const test::OpenModel model(bytes, 0);
  const test::OpenSession session(model, mote_session_options_default(model.get()));
  TEST_ASSERT_EQUAL_INT(MOTE_SELF_TEST_FAILED, replay_in_steps(session.get(), 3).status);
  uint32_t wrong = 0;
  for (uint32_t part = 0; part < mote_model_parts(model.get()); ++part)
    wrong += mote_model_check_part(model.get(), part, nullptr) == MOTE_CORRUPT_FILE ? 1 : 0;
  TEST_ASSERT_GREATER_THAN(0u, wrong);
}
