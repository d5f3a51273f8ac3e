// SPDX-License-Identifier: Apache-2.0
//
// Snapshots of one sequence; that they go on with the same bits is in test_every_append.cpp, for every golden
// model.
#include <cstring>

#include "runtime/file/xxh64.h"
#include "tests/support/any_session.h"
#include "tests/support/test_model.h"

namespace {

const test::OpenModel& sequence_model() {
  static const test::OpenModel opened(test::golden_file("mistral", "q8g32"));
  return opened;
}

mote_session_options of_batch(uint32_t batch, uint32_t kv_positions = 0) {
  mote_session_options options = mote_session_options_default(sequence_model().get());
  options.batch = options.logit_rows = batch;
  options.kv_positions = kv_positions;
  return options;
}

void append(mote_session* session, uint32_t sequence, uint32_t count) {
  const std::vector<int32_t> ids = test::some_ids(count, 100);
  TEST_ASSERT_EQUAL(MOTE_OK, mote_prefill(session, sequence, ids.data(), count, MOTE_LOGITS_LAST, nullptr));
}

test::AlignedBytes saved_sequence(const mote_session* session, uint32_t sequence) {
  test::AlignedBytes state(mote_session_sequence_bytes(session, sequence));
  TEST_ASSERT_EQUAL(
      MOTE_OK, mote_session_save_sequence(session, sequence, state.data(), state.size(), nullptr, nullptr));
  return state;
}

/// The session refuses the snapshot by the word and stays as it was.
void refuses(mote_session* session, uint32_t sequence, const test::AlignedBytes& state, size_t bytes,
             const char* word) {
  test::AlignedBytes before(mote_session_state_bytes(session)), after(before.size());
  TEST_ASSERT_EQUAL(MOTE_OK, mote_session_save(session, before.data(), before.size(), nullptr, nullptr));
  mote_error error{};
  TEST_ASSERT_NOT_EQUAL(MOTE_OK,
                        mote_session_restore_sequence(session, sequence, state.data(), bytes, &error));
  CAPTURE(error.text, word);
  TEST_ASSERT_NOT_NULL(std::strstr(error.text, word));
  TEST_ASSERT_EQUAL(MOTE_OK, mote_session_save(session, after.data(), after.size(), nullptr, nullptr));
  TEST_ASSERT_EQUAL(0, std::memcmp(before.data(), after.data(), before.size()));
}

}  // namespace

TEST("a sequence that there is not is neither saved nor restored") {
  const test::OpenSession session(sequence_model(), of_batch(2));
  append(session.get(), 0, 5);
  test::AlignedBytes state = saved_sequence(session.get(), 0);
  TEST_ASSERT_EQUAL(0, mote_session_sequence_bytes(session.get(), 2));
  TEST_ASSERT_EQUAL(MOTE_INVALID_ARGUMENT, mote_session_save_sequence(session.get(), 2, state.data(),
                                                                      state.size(), nullptr, nullptr));
  TEST_ASSERT_EQUAL(MOTE_INVALID_ARGUMENT,
                    mote_session_restore_sequence(session.get(), 2, state.data(), state.size(), nullptr));
  TEST_ASSERT_EQUAL(MOTE_INVALID_ARGUMENT,
                    mote_session_restore_sequence(session.get(), 0, nullptr, 64, nullptr));
  TEST_ASSERT_EQUAL(MOTE_TOO_SMALL, mote_session_save_sequence(session.get(), 0, state.data(),
                                                               state.size() - 1, nullptr, nullptr));
}

TEST("a snapshot of a session is none of a sequence, nor the other way") {
  const test::OpenSession session(sequence_model(), of_batch(1));
  append(session.get(), 0, 5);
  test::AlignedBytes whole(mote_session_state_bytes(session.get()));
  TEST_ASSERT_EQUAL(MOTE_OK, mote_session_save(session.get(), whole.data(), whole.size(), nullptr, nullptr));
  refuses(session.get(), 0, whole, whole.size(), "not a snapshot");
  const test::AlignedBytes one = saved_sequence(session.get(), 0);
  TEST_ASSERT_EQUAL(MOTE_WRONG_SNAPSHOT,
                    mote_session_restore(session.get(), one.data(), one.size(), nullptr));
}

TEST("a damaged snapshot of a sequence leaves the session as it was") {
  const test::OpenSession session(sequence_model(), of_batch(2));
  append(session.get(), 1, 17);
  const test::AlignedBytes state = saved_sequence(session.get(), 1);
  append(session.get(), 0, 9);
  for (size_t bytes = 0; bytes < state.size(); bytes += 1 + state.size() / 50)
    refuses(session.get(), 0, state, bytes, "truncated");
  for (size_t at = 0; at < state.size(); at += 1 + state.size() / 50) {
    test::AlignedBytes wrong(state.size());
    std::memcpy(wrong.data(), state.data(), state.size());
    static_cast<uint8_t*>(wrong.data())[at] ^= 0x40;
    refuses(session.get(), 0, wrong, wrong.size(), "");
  }
}

TEST("a snapshot of a sequence that is made by hand is refused, whatever its numbers") {
  const test::OpenSession session(sequence_model(), of_batch(2));
  append(session.get(), 1, 40);
  const test::AlignedBytes state = saved_sequence(session.get(), 1);
  uint32_t refused = 0;
  for (size_t at = 24; at + 12 <= std::min<size_t>(state.size(), 400); at += 4) {
    for (const uint32_t number : {0u, 1u, 39u, 41u, 0x7FFFFFFFu, UINT32_MAX}) {
      test::AlignedBytes wrong(state.size());
      auto* bytes = static_cast<uint8_t*>(wrong.data());
      std::memcpy(bytes, state.data(), state.size());
      std::memcpy(bytes + at, &number, sizeof number);
      const uint64_t hash = mote::xxh64(bytes, state.size() - sizeof hash);
      std::memcpy(bytes + state.size() - sizeof hash, &hash, sizeof hash);
      const mote_status status =
          mote_session_restore_sequence(session.get(), 0, bytes, state.size(), nullptr);
      refused += status != MOTE_OK;
      if (status == MOTE_OK) append(session.get(), 0, 1);  // whatever its values, a run stays in the arena
    }
  }
  TEST_ASSERT_GREATER_THAN(20u, refused);
}

TEST("a sequence is restored where pages are short only if its own make room") {
  const test::OpenSession large(sequence_model(), of_batch(1));
  append(large.get(), 0, 20);
  const test::AlignedBytes state = saved_sequence(large.get(), 0);
  const test::OpenSession small(sequence_model(), of_batch(2, 1));  // one page
  append(small.get(), 0, 20);
  refuses(small.get(), 1, state, state.size(), "kv_positions");
  TEST_ASSERT_EQUAL(MOTE_OK,
                    mote_session_restore_sequence(small.get(), 0, state.data(), state.size(), nullptr));
  TEST_ASSERT_EQUAL(20u, mote_session_length(small.get(), 0));
  // A fork shares its pages, so they do not become free.
  TEST_ASSERT_EQUAL(MOTE_OK, mote_session_fork(small.get(), 0, 1, nullptr));
  refuses(small.get(), 1, state, state.size(), "kv_positions");
}
