// SPDX-License-Identifier: Apache-2.0
#include "mote/attention.h"

#include <cmath>
#include <set>
#include <tuple>

#include "tests/support/test_model.h"

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
