// SPDX-License-Identifier: Apache-2.0
#include "mote/attention.h"

#include <cmath>
#include <memory>
#include <set>
#include <tuple>
#include <utility>

#include "mote/sound.h"
#include "tests/support/test_model.h"
#include "tests/support/thread_pool.h"

namespace {

struct Seen {
  std::vector<mote_attention_row> rows;
  std::vector<std::vector<float>> probabilities;
};

void take(void* user, const mote_attention_row* row) {
  Seen& seen = *static_cast<Seen*>(user);
  seen.rows.push_back(*row);
  seen.probabilities.emplace_back(row->probabilities, row->probabilities + row->keys);
}

void no_trace(void*, const char*, const float*, uint32_t, uint32_t, size_t) {}

mote_session_options watched_options(const test::OpenModel& model) {
  mote_session_options options = test::small_options(model);
  options.trace = no_trace;
  options.kv_dtype = MOTE_KV_F32;
  return options;
}

}  // namespace

TEST("each row of a run has a map for every head of every attention, over what it sees, that adds up to 1") {
  const test::OpenModel model(test::golden_file("llama", "f32"));
  const test::OpenSession session(model, watched_options(model));
  std::vector<float> room(mote_attention_room(session.get()));
  Seen seen;
  REQUIRE(mote_session_watch_attention(session.get(), take, &seen, room.data(),
                                       static_cast<uint32_t>(room.size()), nullptr) == MOTE_OK);
  const auto ids = test::some_ids(7, 100);
  test::prefill(session.get(), ids, 100);
  REQUIRE(!seen.rows.empty());
  std::set<std::tuple<uint32_t, uint32_t, uint32_t>> places;
  for (size_t i = 0; i < seen.rows.size(); ++i) {
    const mote_attention_row& row = seen.rows[i];
    TEST_ASSERT_TRUE(places.emplace(row.op, row.row, row.head).second);
    TEST_ASSERT_EQUAL_UINT32(row.row + 1, row.keys);
    double sum = 0;
    for (const float share : seen.probabilities[i]) {
      TEST_ASSERT_TRUE(share >= 0 && share <= 1);
      sum += double{share};
    }
    TEST_ASSERT_DOUBLE_WITHIN(1e-5, 1.0, sum);
  }
  std::set<uint32_t> operations;
  for (const mote_attention_row& row : seen.rows) operations.insert(row.op);
  TEST_ASSERT_EQUAL_UINT32(operations.size() * 7 * seen.rows[0].heads, seen.rows.size());

  const size_t before = seen.rows.size();
  REQUIRE(mote_session_watch_attention(session.get(), nullptr, nullptr, nullptr, 0, nullptr) == MOTE_OK);
  REQUIRE(mote_decode(session.get(), ids.data(), nullptr) == MOTE_OK);
  TEST_ASSERT_EQUAL_UINT32(before, seen.rows.size());
}

TEST("attention is watched only with a trace, keys in f32 and room enough") {
  const test::OpenModel model(test::golden_file("llama", "f32"));
  mote_error error{};
  Seen seen;
  mote_session_options options = watched_options(model);
  {
    const test::OpenSession session(model, options);
    std::vector<float> room(mote_attention_room(session.get()));
    const auto count = static_cast<uint32_t>(room.size());
    TEST_ASSERT_EQUAL_INT(MOTE_TOO_SMALL, mote_session_watch_attention(session.get(), take, &seen,
                                                                       room.data(), count - 1, &error));
    TEST_ASSERT_EQUAL_INT(MOTE_INVALID_ARGUMENT,
                          mote_session_watch_attention(session.get(), take, &seen, nullptr, count, &error));
  }
  for (const bool without_trace : {true, false}) {
    options = watched_options(model);
    if (without_trace) options.trace = nullptr;
    if (!without_trace) options.kv_dtype = MOTE_KV_I8;
    const test::OpenSession session(model, options);
    std::vector<float> room(mote_attention_room(session.get()));
    TEST_ASSERT_EQUAL_INT(MOTE_INVALID_ARGUMENT,
                          mote_session_watch_attention(session.get(), take, &seen, room.data(),
                                                       static_cast<uint32_t>(room.size()), &error));
    TEST_ASSERT_EQUAL_STRING("attention maps are of sessions that trace, with keys in f32", error.text);
  }
}

namespace {

/// A session of the golden Whisper with a source.
std::unique_ptr<test::OpenSession> hearing_session(const test::OpenModel& model, mote_kv_dtype keys,
                                                   bool traces, const test::ThreadPool& pool,
                                                   uint32_t threads) {
  mote_session_options options = mote_session_options_default(model.get());
  options.kv_dtype = keys;
  const mote_isa isa = options.isa;
  options.platform = pool.platform();
  options.isa = isa;
  options.threads = threads;
  if (traces) options.trace = no_trace;
  auto session = std::make_unique<test::OpenSession>(model, options);
  mote_sound_info sound;
  mote_model_get_sound(model.get(), &sound);
  std::vector<float> features(size_t{sound.frames} * sound.bins);
  for (size_t i = 0; i < features.size(); ++i) features[i] = std::sin(static_cast<float>(i * i % 977));
  mote_batch batch{};
  batch.lengths = &sound.frames;
  batch.count = 1;
  batch.values = features.data();
  REQUIRE(mote_encode(session->get(), &batch, nullptr) == MOTE_OK);
  return session;
}

std::vector<mote_row> rows_of_text() {
  std::vector<mote_row> rows;
  for (const int32_t id : test::some_ids(20, 100)) rows.push_back({0, id, 0, 0});
  rows.back().wants_output = 1;
  return rows;
}

/// Returns what the heads of the second attention over the source show.
Seen watched_heads(const test::OpenModel& model, mote_kv_dtype keys, uint32_t threads) {
  const test::ThreadPool pool(threads);
  const auto session = hearing_session(model, keys, false, pool, threads);
  std::vector<float> room(mote_watched_heads_room(session->get()));
  Seen seen;
  const mote_watched_head heads[] = {{1, 2}, {0, 1}, {7, 0}, {0, 9}};
  REQUIRE(mote_session_watch_heads(session->get(), heads, 4, take, &seen, room.data(),
                                   static_cast<uint32_t>(room.size()), nullptr) == MOTE_OK);
  const std::vector<mote_row> rows = rows_of_text();
  mote_rows call{};
  call.rows = rows.data();
  call.count = static_cast<uint32_t>(rows.size());
  REQUIRE(mote_compute(session->get(), &call, nullptr) == MOTE_OK);
  return seen;
}

}  // namespace

TEST("watched heads show the shares of the maps of all, with any keys, without a trace") {
  const test::OpenModel model(test::golden_file("whisper", "f32"));
  TEST_ASSERT_EQUAL_UINT32(3, mote_model_source_heads(model.get(), 1));
  TEST_ASSERT_EQUAL_UINT32(0, mote_model_source_heads(model.get(), 2));
  Seen all;
  const test::ThreadPool pool(1);
  const auto session = hearing_session(model, MOTE_KV_F32, true, pool, 1);
  std::vector<float> room(mote_attention_room(session->get()));
  REQUIRE(mote_session_watch_attention(session->get(), take, &all, room.data(),
                                       static_cast<uint32_t>(room.size()), nullptr) == MOTE_OK);
  const std::vector<mote_row> rows = rows_of_text();
  mote_rows call{};
  call.rows = rows.data();
  call.count = static_cast<uint32_t>(rows.size());
  REQUIRE(mote_compute(session->get(), &call, nullptr) == MOTE_OK);
  std::vector<uint32_t> crossing;  // operations
  for (const mote_attention_row& row : all.rows)
    if (row.crosses != 0 && (crossing.empty() || crossing.back() != row.op)) crossing.push_back(row.op);
  TEST_ASSERT_EQUAL_UINT32(2, crossing.size());
  for (const auto& [keys, bound] :
       {std::pair(MOTE_KV_F32, 1e-6), {MOTE_KV_F16, 1e-3}, {MOTE_KV_BF16, 1e-2}, {MOTE_KV_I8, 1e-2}}) {
    CAPTURE(keys);
    const Seen seen = watched_heads(model, keys, 1);
    TEST_ASSERT_EQUAL_UINT32(2 * rows.size(), seen.rows.size());
    for (size_t i = 0; i < seen.rows.size(); ++i) {
      const bool second = i >= rows.size();
      TEST_ASSERT_EQUAL_UINT32(crossing[second], seen.rows[i].op);
      TEST_ASSERT_EQUAL_UINT32(second ? 2 : 1, seen.rows[i].head);
      TEST_ASSERT_EQUAL_UINT32(i % rows.size(), seen.rows[i].row);
      for (size_t j = 0; j < all.rows.size(); ++j) {
        const mote_attention_row &one = all.rows[j], &other = seen.rows[i];
        if (one.op != other.op || one.head != other.head || one.row != other.row) continue;
        for (size_t p = 0; p < one.keys; ++p)
          TEST_ASSERT_FLOAT_WITHIN(bound, all.probabilities[j][p], seen.probabilities[i][p]);
      }
    }
    TEST_ASSERT_TRUE(seen.probabilities == watched_heads(model, keys, 4).probabilities);
  }
}

TEST("heads are watched of models with a source alone, with room enough") {
  mote_error error{};
  Seen seen;
  const mote_watched_head head = {0, 0};
  {
    const test::OpenModel model(test::golden_file("llama", "f32"));
    const test::OpenSession session(model, test::small_options(model));
    TEST_ASSERT_EQUAL_UINT32(0, mote_watched_heads_room(session.get()));
    float room = 0;
    TEST_ASSERT_EQUAL_INT(MOTE_WRONG_STATE,
                          mote_session_watch_heads(session.get(), &head, 1, take, &seen, &room, 1, &error));
  }
  const test::OpenModel model(test::golden_file("whisper", "f32"));
  const test::ThreadPool pool(1);
  const auto session = hearing_session(model, MOTE_KV_F32, false, pool, 1);
  std::vector<float> room(mote_watched_heads_room(session->get()));
  const auto count = static_cast<uint32_t>(room.size());
  TEST_ASSERT_EQUAL_INT(MOTE_TOO_SMALL, mote_session_watch_heads(session->get(), &head, 1, take, &seen,
                                                                 room.data(), count - 1, &error));
  TEST_ASSERT_EQUAL_INT(MOTE_INVALID_ARGUMENT, mote_session_watch_heads(session->get(), nullptr, 1, take,
                                                                        &seen, room.data(), count, &error));
}
