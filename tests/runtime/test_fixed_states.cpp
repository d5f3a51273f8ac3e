// SPDX-License-Identifier: Apache-2.0
//
// States of a fixed size in sessions: the same bits for any chunks, batch and threads, through snapshots,
// forks and beams, and after runs that were broken off.
#include <algorithm>
#include <cstring>

#include "runtime/exec/session.h"
#include "runtime/file/xxh64.h"
#include "tests/support/mixed_rows.h"
#include "tests/support/state_model.h"

namespace {

constexpr uint32_t kStateVocab = 16;

mote_session_options state_options(const test::OpenModel& model, uint32_t batch = 1) {
  mote_session_options options = mote_session_options_default(model.get());
  options.batch = options.logit_rows = batch;
  return options;
}

std::vector<float> state_alone(const test::OpenModel& model, const std::vector<int32_t>& ids) {
  const test::OpenSession session(model, state_options(model));
  return test::prefill(session.get(), ids, kStateVocab);
}

std::vector<int32_t> ids_joined(std::vector<int32_t> a, const std::vector<int32_t>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

test::AlignedBytes saved(const mote_session* session) {
  test::AlignedBytes state(mote_session_state_bytes(session));
  REQUIRE(mote_session_save(session, state.data(), state.size(), nullptr, nullptr) == MOTE_OK);
  return state;
}

bool same(const test::AlignedBytes& a, const test::AlignedBytes& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size()) == 0;
}

/// Calls check(model) for each of the models.
template <class Check>
void each_state_model(Check check) {
  for (const auto& one : test::state_models()) {
    CAPTURE(one->name);
    check(one->model);
  }
}

}  // namespace

TEST("models with states of a fixed size give the same bits for chunks of every size", "[fixed_state]") {
  each_state_model([](const test::OpenModel& model) {
    const auto ids = test::some_ids(67, kStateVocab);
    std::vector<float> expected;
    for (const uint32_t chunk : {67u, 1u, 2u, 3u, 4u, 5u, 7u, 8u, 16u, 31u, 33u, 66u}) {
      CAPTURE(chunk);
      mote_session_options options = state_options(model);
      options.chunk = chunk;
      const test::OpenSession session(model, options);
      const auto logits = test::prefill(session.get(), ids, kStateVocab);
      if (expected.empty()) expected = logits;
      TEST_ASSERT_TRUE(expected == logits);
    }
  });
}

TEST("every family, any threads and lanes give the bits of one thread", "[fixed_state][values]") {
  uint32_t in_lanes = 0, families_with_lanes = 0;
  each_state_model([&](const test::OpenModel& model) {
    for (const mote_isa isa : test::all_families()) {
      for (const uint32_t length : {9u, 500u}) {  // the second in lanes, where the family has them
        CAPTURE(mote_isa_name(isa), length);
        const auto ids = test::some_ids(length, kStateVocab);
        std::vector<float> expected;
        for (const uint32_t threads : {1u, 2u, 3u}) {
          mote_posix_pool* pool = mote_posix_pool_create(threads);
          mote_session_options options = state_options(model);
          options.platform = mote_posix_pool_platform(pool);
          options.isa = isa;
          options.chunk = 512;
          const test::OpenSession session(model, options);
          in_lanes += length / threads >= session.get()->least_lane;
          families_with_lanes += mote::family(session.get()->isa).tuning->lanes;
          const auto logits = test::prefill(session.get(), ids, kStateVocab);
          mote_posix_pool_destroy(pool);
          if (expected.empty()) expected = logits;
          TEST_ASSERT_TRUE(expected == logits);
        }
      }
    }
  });
  TEST_ASSERT_TRUE((in_lanes != 0) == (families_with_lanes != 0));
}

TEST("rows of several sequences in any mix have the bits of each alone", "[fixed_state]") {
  each_state_model([](const test::OpenModel& model) {
    const test::OpenSession session(model, state_options(model, 4));
    test::check_mixed_rows(session.get(), kStateVocab, {1, 0, 3},
                           [&](const std::vector<int32_t>& ids) { return state_alone(model, ids); });
  });
}

TEST("a session saved in the middle of a text goes on with the same bits", "[fixed_state]") {
  each_state_model([](const test::OpenModel& model) {
    for (const uint32_t length : {1u, 2u, 3u, 40u, 130u}) {
      CAPTURE(length);
      const test::OpenSession first(model, state_options(model, 2)), second(model, state_options(model, 3));
      const auto ids = test::some_ids(length, kStateVocab), more = test::some_ids(20, kStateVocab, 2);
      test::prefill(second.get(), more, kStateVocab, 1);  // what the snapshot replaces
      test::prefill(first.get(), ids, kStateVocab, 1);
      const test::AlignedBytes state = saved(first.get());
      REQUIRE(mote_session_restore(second.get(), state.data(), state.size(), nullptr) == MOTE_OK);
      TEST_ASSERT_EQUAL_UINT32(length, mote_session_length(second.get(), 1));
      TEST_ASSERT_TRUE(test::prefill(second.get(), more, kStateVocab, 1) ==
                       state_alone(model, ids_joined(ids, more)));
      TEST_ASSERT_TRUE(test::prefill(second.get(), more, kStateVocab, 0) == state_alone(model, more));
    }
  });
}

TEST("sessions that hold the same tokens give equal snapshots, however they came to them", "[fixed_state]") {
  each_state_model([](const test::OpenModel& model) {
    const auto ids = test::some_ids(41, kStateVocab);
    mote_session_options options = state_options(model, 2);
    const test::OpenSession plain(model, options), lived(model, options);
    test::prefill(plain.get(), ids, kStateVocab);
    test::prefill(lived.get(), test::some_ids(60, kStateVocab, 5), kStateVocab, 1);
    test::prefill(lived.get(), test::some_ids(60, kStateVocab, 6), kStateVocab, 0);
    REQUIRE(mote_session_truncate(lived.get(), 1, 0, nullptr) == MOTE_OK);
    REQUIRE(mote_session_fork(lived.get(), 1, 0, nullptr) == MOTE_OK);
    test::prefill(lived.get(), {ids.begin(), ids.begin() + 11}, kStateVocab);
    test::prefill(lived.get(), {ids.begin() + 11, ids.end()}, kStateVocab);
    const test::AlignedBytes expected = saved(plain.get());
    TEST_ASSERT_TRUE(same(expected, saved(lived.get())));
    const test::OpenSession copy(model, options);
    REQUIRE(mote_session_restore(copy.get(), expected.data(), expected.size(), nullptr) == MOTE_OK);
    TEST_ASSERT_TRUE(same(expected, saved(copy.get())));
  });
}

TEST("a snapshot whose states are cut short or are of another size is refused", "[fixed_state]") {
  const test::OpenModel& model = test::state_models()[0]->model;
  const test::OpenSession session(model, state_options(model));
  test::prefill(session.get(), test::some_ids(9, kStateVocab), kStateVocab);
  const test::AlignedBytes before = saved(session.get());
  for (const uint32_t length : {0u, 8u, 700u}) {  // of sequence 0, behind the header
    for (const int64_t change : {-64, 0, 64}) {
      if (length == 8 && change == 0) continue;  // as good as the one that was saved
      CAPTURE(length, change);
      test::AlignedBytes forged(before.size() + 64);
      std::memcpy(forged.data(), before.data(), before.size());
      const uint64_t bytes = static_cast<uint64_t>(static_cast<int64_t>(before.size()) + change);
      std::memcpy(forged.data() + 24, &bytes, sizeof bytes);
      std::memcpy(forged.data() + 48, &length, sizeof length);
      const uint64_t hash = mote::xxh64(forged.data(), bytes - sizeof hash);
      std::memcpy(forged.data() + bytes - sizeof hash, &hash, sizeof hash);
      TEST_ASSERT_EQUAL_INT(MOTE_WRONG_SNAPSHOT,
                            mote_session_restore(session.get(), forged.data(), bytes, nullptr));
      TEST_ASSERT_TRUE(same(before, saved(session.get())));
    }
  }
}

TEST("a fork goes on by itself, and so does what it was made of", "[fixed_state]") {
  each_state_model([](const test::OpenModel& model) {
    for (const uint32_t shared : {1u, 3u, 64u, 129u}) {
      CAPTURE(shared);
      const test::OpenSession session(model, state_options(model, 2));
      const auto prefix = test::some_ids(shared, kStateVocab), left = test::some_ids(9, kStateVocab, 2),
                 right = test::some_ids(20, kStateVocab, 3);
      test::prefill(session.get(), right, kStateVocab, 1);  // what the fork replaces
      test::prefill(session.get(), prefix, kStateVocab);
      REQUIRE(mote_session_fork(session.get(), 0, 1, nullptr) == MOTE_OK);
      TEST_ASSERT_TRUE(test::prefill(session.get(), right, kStateVocab, 1) ==
                       state_alone(model, ids_joined(prefix, right)));
      TEST_ASSERT_TRUE(test::prefill(session.get(), left, kStateVocab, 0) ==
                       state_alone(model, ids_joined(prefix, left)));
    }
  });
}

TEST("beams of any order go on with the states of what they are copies of", "[fixed_state]") {
  each_state_model([](const test::OpenModel& model) {
    const test::OpenSession session(model, state_options(model, 4));
    std::vector<std::vector<int32_t>> texts = {test::some_ids(5, kStateVocab, 1),
                                               test::some_ids(6, kStateVocab, 2),
                                               test::some_ids(40, kStateVocab, 3),
                                               {}};
    for (uint32_t i = 0; i < 3; ++i) test::prefill(session.get(), texts[i], kStateVocab, i);
    for (const std::vector<uint32_t>& from :
         {std::vector<uint32_t>{1, 2, 0, 3}, {0, 0, 3, 1}, {3, 1, 1, 0}, {2, 2, 2, 2}}) {
      REQUIRE(mote_session_reorder(session.get(), from.data(), nullptr) == MOTE_OK);
      const auto before = texts;
      for (uint32_t i = 0; i < 4; ++i) {
        texts[i] = ids_joined(before[from[i]], test::some_ids(2, kStateVocab, i + 7));
        const std::vector<int32_t> added(texts[i].end() - 2, texts[i].end());
        TEST_ASSERT_TRUE(test::prefill(session.get(), added, kStateVocab, i) == state_alone(model, texts[i]));
      }
    }
  });
}

TEST("a sequence with such a state is truncated to nothing or not at all, and says why", "[fixed_state]") {
  each_state_model([](const test::OpenModel& model) {
    const test::OpenSession session(model, state_options(model));
    const auto ids = test::some_ids(30, kStateVocab), more = test::some_ids(6, kStateVocab, 2);
    TEST_ASSERT_EQUAL_UINT32(0, mote_session_shortest(session.get(), 0));
    test::prefill(session.get(), ids, kStateVocab);
    TEST_ASSERT_EQUAL_UINT32(30, mote_session_shortest(session.get(), 0));
    mote_error error{};
    for (const uint32_t length : {1u, 29u}) {
      TEST_ASSERT_EQUAL_INT(MOTE_INVALID_ARGUMENT, mote_session_truncate(session.get(), 0, length, &error));
      TEST_ASSERT_NOT_NULL(std::strstr(error.text, "keeps no earlier tokens"));
      TEST_ASSERT_EQUAL_UINT32(30, mote_session_length(session.get(), 0));
    }
    REQUIRE(mote_session_truncate(session.get(), 0, 30, &error) == MOTE_OK);
    TEST_ASSERT_TRUE(test::prefill(session.get(), more, kStateVocab) ==
                     state_alone(model, ids_joined(ids, more)));
    REQUIRE(mote_session_truncate(session.get(), 0, 0, &error) == MOTE_OK);
    TEST_ASSERT_TRUE(test::prefill(session.get(), more, kStateVocab) == state_alone(model, more));
  });
}

TEST("a run that is broken off leaves the states as they were", "[fixed_state]") {
  each_state_model([](const test::OpenModel& model) {
    const auto ids = test::some_ids(20, kStateVocab), more = test::some_ids(6, kStateVocab, 2);
    for (uint32_t ops = 1; ops < 12; ++ops) {
      CAPTURE(ops);
      const test::OpenSession session(model, state_options(model));
      test::prefill(session.get(), ids, kStateVocab);
      const mote_row row{0, 3, 0, 1};
      mote_rows call{};
      call.rows = &row;
      call.count = 1;
      int done = 0;
      const test::AlignedBytes before = saved(session.get());
      REQUIRE(mote_compute_begin(session.get(), &call, nullptr) == MOTE_OK);
      REQUIRE(mote_compute_step(session.get(), ops, &done, nullptr) == MOTE_OK);
      if (done != 0) break;
      TEST_ASSERT_TRUE(test::prefill(session.get(), more, kStateVocab) ==
                       state_alone(model, ids_joined(ids, more)));
      REQUIRE(mote_session_restore(session.get(), before.data(), before.size(), nullptr) == MOTE_OK);
      TEST_ASSERT_TRUE(test::prefill(session.get(), more, kStateVocab) ==
                       state_alone(model, ids_joined(ids, more)));
    }
  });
}

TEST(
    "a model of such states state_alone takes the id of each token of the context besides, and has no other "
    "limit",
    "[fixed_state]") {
  const test::AlignedBytes file = test::state_file({test::Mixer::conv}, 1u << 24);
  const test::OpenModel model(file);
  mote_session_options options = state_options(model);
  TEST_ASSERT_EQUAL_UINT32(1u << 24, options.context);
  const size_t bytes = mote_session_bytes(model.get(), &options);
  mote_memory memory;
  REQUIRE(mote_session_memory(model.get(), &options, &memory, nullptr) == MOTE_OK);
  TEST_ASSERT_EQUAL_UINT64(0, memory.kv_cache);
  TEST_ASSERT_GREATER_OR_EQUAL(uint64_t{2 * 3 * test::StateLayers::kWidth * sizeof(float)}, memory.states);
  const test::OpenSession session(model, options);
  TEST_ASSERT_EQUAL_UINT32(UINT32_MAX, mote_session_free_positions(session.get()));
  options.context = 1;
  const size_t ids = (size_t{1} << 24) * sizeof(int32_t), one_id = mote::kAlignment;  // rounded up
  TEST_ASSERT_EQUAL_SIZE_T(bytes - ids + one_id, mote_session_bytes(model.get(), &options));

  test::prefill(session.get(), test::some_ids(4, kStateVocab), kStateVocab);
  const size_t snapshot = mote_session_state_bytes(session.get());
  test::prefill(session.get(), test::some_ids(3000, kStateVocab), kStateVocab);
  TEST_ASSERT_EQUAL_SIZE_T(snapshot + 3000 * sizeof(int32_t), mote_session_state_bytes(session.get()));
}
