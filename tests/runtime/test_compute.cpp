// SPDX-License-Identifier: Apache-2.0
//
// Rows of many sequences in one call, and what pages are for: shared prefixes, rollback, beams, a pool. All
// of it gives the bits of sequences that were computed alone.
#include <algorithm>
#include <cstring>

#include "tests/support/mixed_rows.h"
#include "tests/support/test_model.h"

namespace {

constexpr uint32_t kVocab = 100;

/// Full attention, and a window of 58 tokens.
const test::OpenModel& long_model(bool window) {
  static const test::AlignedBytes files[] = {test::file_with_context_600("qwen3", 52, "q8g32"),
                                             test::file_with_context_600("mistral", 58, "q8g32")};
  static const test::OpenModel models[] = {test::OpenModel(files[0]), test::OpenModel(files[1])};
  return models[window];
}

mote_session_options options_of(const test::OpenModel& model, uint32_t batch) {
  mote_session_options options = mote_session_options_default(model.get());
  options.batch = options.logit_rows = batch;
  options.chunk = std::max(options.chunk, batch);
  return options;
}

std::vector<int32_t> joined(std::vector<int32_t> a, const std::vector<int32_t>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

/// Logits of the last of the ids, of a sequence alone.
std::vector<float> alone(const test::OpenModel& model, const std::vector<int32_t>& ids) {
  const test::OpenSession session(model, options_of(model, 1));
  return test::prefill(session.get(), ids, kVocab);
}

/// Rows of a call, as an argument of it.
class CallOf {
 public:
  explicit CallOf(std::vector<mote_row> rows) : rows_(std::move(rows)) {
    call_.rows = rows_.data();
    call_.count = static_cast<uint32_t>(rows_.size());
  }
  operator const mote_rows*() const { return &call_; }

 private:
  std::vector<mote_row> rows_;
  mote_rows call_{};
};
CallOf call_of(std::vector<mote_row> rows) { return CallOf(std::move(rows)); }

void must(mote_status status, const mote_error& error) {
  INFO(error.text);
  REQUIRE(status == MOTE_OK);
}

/// Calls check(model, length) for both models and each length.
template <class Check>
void each_long_model(const std::vector<uint32_t>& lengths, Check check) {
  for (const bool window : {false, true}) {
    for (const uint32_t length : lengths) {
      CAPTURE(window, length);
      check(long_model(window), length);
    }
  }
}

}  // namespace

TEST("two sequences that share a prefix and then part have the bits of two alone", "[compute]") {
  each_long_model({1, 127, 128, 129, 300}, [](const test::OpenModel& model, uint32_t shared) {
    const test::OpenSession session(model, options_of(model, 2));
    const auto prefix = test::some_ids(shared, kVocab), left = test::some_ids(140, kVocab, 2),
               right = test::some_ids(20, kVocab, 3);
    mote_error error{};
    test::prefill(session.get(), prefix, kVocab);
    must(mote_session_fork(session.get(), 0, 1, &error), error);
    TEST_ASSERT_EQUAL_UINT32(shared, mote_session_length(session.get(), 1));
    TEST_ASSERT_TRUE(test::prefill(session.get(), right, kVocab, 1) == alone(model, joined(prefix, right)));
    TEST_ASSERT_TRUE(test::prefill(session.get(), left, kVocab, 0) == alone(model, joined(prefix, left)));
    const auto more = test::some_ids(3, kVocab, 4);
    TEST_ASSERT_TRUE(test::prefill(session.get(), more, kVocab, 1) ==
                     alone(model, joined(joined(prefix, right), more)));
  });
}

TEST("three tokens rolled back and others in their place give the bits of the others alone", "[compute]") {
  each_long_model({10, 128, 130, 257, 500}, [](const test::OpenModel& model, uint32_t length) {
    const test::OpenSession session(model, options_of(model, 1));
    const auto kept = test::some_ids(length, kVocab), draft = test::some_ids(3, kVocab, 2),
               right = test::some_ids(5, kVocab, 3);
    test::prefill(session.get(), joined(kept, draft), kVocab);
    TEST_ASSERT_EQUAL_INT(MOTE_OK, mote_session_truncate(session.get(), 0, length, nullptr));
    TEST_ASSERT_TRUE(test::prefill(session.get(), right, kVocab) == alone(model, joined(kept, right)));
  });
}

TEST("a sequence can be truncated to what is said to be its shortest length, and to none shorter but 0",
     "[compute]") {
  for (const bool window : {false, true}) {
    const test::OpenModel& model = long_model(window);
    const test::OpenSession session(model, options_of(model, 1));
    TEST_ASSERT_EQUAL_UINT32(0, mote_session_shortest(session.get(), 0));
    TEST_ASSERT_EQUAL_UINT32(0, mote_session_shortest(session.get(), 1));
    for (const uint32_t length : {1u, 57u, 200u, 400u, 600u}) {
      CAPTURE(window, length);
      REQUIRE(mote_session_truncate(session.get(), 0, 0, nullptr) == MOTE_OK);
      test::prefill(session.get(), test::some_ids(length, kVocab), kVocab);
      const uint32_t shortest = mote_session_shortest(session.get(), 0);
      TEST_ASSERT_EQUAL_UINT32(window && length >= 400, shortest > 1);
      TEST_ASSERT_TRUE(shortest == 1 || shortest + 128 <= length);
      if (shortest > 1) {
        TEST_ASSERT_EQUAL_INT(MOTE_INVALID_ARGUMENT,
                              mote_session_truncate(session.get(), 0, shortest - 1, nullptr));
      }
      TEST_ASSERT_EQUAL_INT(MOTE_OK, mote_session_truncate(session.get(), 0, shortest, nullptr));
      TEST_ASSERT_EQUAL_UINT32(shortest, mote_session_shortest(session.get(), 0));
    }
  }
}

TEST("rows of prompts and of single tokens in one call have the bits of each alone", "[compute]") {
  for (const bool window : {false, true}) {
    const test::OpenModel& model = long_model(window);
    const test::OpenSession session(model, options_of(model, 3));
    test::check_mixed_rows(session.get(), kVocab, {0, 1, 2},
                           [&](const std::vector<int32_t>& ids) { return alone(model, ids); });
    TEST_ASSERT_NULL(mote_session_output(session.get(), 3));
  }
}

TEST("a hundred conversations of different lengths go on in a pool of pages", "[compute]") {
  constexpr uint32_t kConversations = 100, kPages = 130;
  const test::OpenModel& model = long_model(false);
  mote_session_options options = options_of(model, kConversations);
  options.kv_positions = kPages * 128;
  const test::OpenSession session(model, options);
  options.kv_positions = 0;
  TEST_ASSERT_TRUE(mote_session_bytes(model.get(), &options) > 3 * kPages * 128 * 64);
  mote_error error{};
  const auto length_of = [](uint32_t i) { return 1 + i * 37 % 150; };
  std::vector<mote_row> turn;
  for (uint32_t i = 0; i < kConversations; ++i) {
    const auto ids = test::some_ids(length_of(i) + 1, kVocab, i);
    must(mote_prefill(session.get(), i, ids.data(), length_of(i), MOTE_LOGITS_NONE, &error), error);
    turn.push_back({i, ids.back(), 0, 1});
  }
  must(mote_compute(session.get(), call_of(turn), &error), error);
  for (uint32_t i = 0; i < kConversations; i += 9) {
    CAPTURE(i);
    TEST_ASSERT_TRUE(test::logits_of(session.get(), kVocab, i) ==
                     alone(model, test::some_ids(length_of(i) + 1, kVocab, i)));
  }
  // Full: refused, until a conversation ends; then its pages are another's.
  const auto prompt = test::some_ids(400, kVocab, 7);
  uint32_t grown = 0;
  while (mote_prefill(session.get(), grown, prompt.data(), 128, MOTE_LOGITS_LAST, &error) == MOTE_OK) ++grown;
  TEST_ASSERT_NOT_NULL(std::strstr(error.text, "kv_positions"));
  TEST_ASSERT_TRUE(mote_session_free_positions(session.get()) < 256);
  const uint32_t before = mote_session_length(session.get(), grown);
  TEST_ASSERT_EQUAL_UINT32(length_of(grown) + 1, before);
  must(mote_session_truncate(session.get(), 0, 0, &error), error);
  must(mote_session_truncate(session.get(), 1, 0, &error), error);
  TEST_ASSERT_TRUE(test::prefill(session.get(), {prompt.begin(), prompt.begin() + 250}, kVocab, 0) ==
                   alone(model, {prompt.begin(), prompt.begin() + 250}));
}

TEST("sequences that share their only page go on, each with a page of its own", "[compute]") {
  for (const bool window : {false, true}) {
    const test::OpenModel& model = long_model(window);
    mote_session_options options = options_of(model, 4);
    options.context = 100;
    const test::OpenSession session(model, options);
    const auto prefix = test::some_ids(10, kVocab);
    mote_error error{};
    test::prefill(session.get(), prefix, kVocab);
    for (const uint32_t to : {1u, 2u, 3u}) must(mote_session_fork(session.get(), 0, to, &error), error);
    const int32_t ids[] = {1, 2, 3, 4};
    must(mote_decode(session.get(), ids, &error), error);
    for (uint32_t i = 0; i < 4; ++i) {
      TEST_ASSERT_TRUE(test::logits_of(session.get(), kVocab, i) == alone(model, joined(prefix, {ids[i]})));
    }
  }
}

TEST("a generation ends where the pool does, as where the context does", "[compute]") {
  const test::OpenModel& model = long_model(false);
  const auto prompt = test::some_ids(120, kVocab);
  const auto generate = [&](const mote_session_options& options, mote_finish* finish) {
    const test::OpenSession session(model, options);
    const mote_generation generation = [] {
      mote_generation all = mote_generation_default();
      all.ignore_model_stops = 1;
      return all;
    }();
    std::vector<int32_t> ids;
    const auto keep = [](void* user, int32_t id) {
      static_cast<std::vector<int32_t>*>(user)->push_back(id);
      return 0;
    };
    mote_error error{};
    must(mote_generate(session.get(), prompt.data(), 120, &generation, keep, &ids, finish, &error), error);
    return ids;
  };
  mote_session_options short_context = options_of(model, 1), small_pool = short_context;
  short_context.context = 128;
  small_pool.kv_positions = 128;
  mote_finish expected, actual;
  const auto ids = generate(short_context, &expected);
  TEST_ASSERT_EQUAL_INT(MOTE_FINISH_CONTEXT, expected);
  TEST_ASSERT_TRUE(ids == generate(small_pool, &actual));
  TEST_ASSERT_EQUAL_INT(MOTE_FINISH_CONTEXT, actual);
}

TEST("four beams by copy on write have the bits of four separate sequences", "[compute]") {
  constexpr uint32_t kBeams = 4;
  for (const bool window : {false, true}) {
    const test::OpenModel& model = long_model(window);
    const test::OpenSession session(model, options_of(model, kBeams));
    const auto prompt = test::some_ids(125, kVocab);
    mote_error error{};
    test::prefill(session.get(), prompt, kVocab);
    std::vector<std::vector<int32_t>> beams(kBeams, prompt);
    uint32_t from[kBeams] = {0, 0, 0, 0};
    for (uint32_t step = 0; step < 8; ++step) {  // over the end of a page
      must(mote_session_reorder(session.get(), from, &error), error);
      std::vector<std::vector<int32_t>> next;
      int32_t ids[kBeams];
      for (uint32_t beam = 0; beam < kBeams; ++beam) {
        ids[beam] = static_cast<int32_t>((step * 31 + beam * 17) % kVocab);
        next.push_back(beams[from[beam]]);
        next.back().push_back(ids[beam]);
      }
      beams = next;
      must(mote_decode(session.get(), ids, &error), error);
      for (uint32_t beam = 0; beam < kBeams; ++beam) {
        TEST_ASSERT_TRUE(test::logits_of(session.get(), kVocab, beam) == alone(model, beams[beam]));
        from[beam] = (beam * (step + 1) + step) % kBeams / (step % 2 + 1);
      }
    }
  }
}

TEST("an encoder's rows are those of mote_encode", "[compute]") {
  for (const char* name : {"bert_classifier", "xlm_roberta_tokens"}) {
    CAPTURE(name);
    const test::OpenModel model(test::golden_file(name, "f32"));
    mote_session_options options = mote_session_options_default(model.get());
    options.batch = 3;
    const test::OpenSession session(model, options);
    const uint32_t lengths[] = {5, 1, 9};
    const auto ids = test::some_ids(15, model.info().vocab);
    const mote_batch batch{ids.data(), nullptr, lengths, 3, nullptr, 0, nullptr, {}, {}, {}};
    mote_output_info output{};
    mote_model_get_output(model.get(), &output);
    mote_error error{};
    must(mote_encode(session.get(), &batch, &error), error);
    const auto outputs = [&] {
      std::vector<float> all;
      for (uint32_t row = 0; const float* values = mote_session_output(session.get(), row); ++row)
        all.insert(all.end(), values, values + output.width);
      return all;
    };
    const auto expected = outputs();
    std::vector<mote_row> rows;
    for (uint32_t s = 0, at = 0; s < 3; ++s) {
      for (uint32_t i = 0; i < lengths[s]; ++i) rows.push_back({s, ids[at++], 0, 1});
    }
    must(mote_compute(session.get(), call_of(rows), &error), error);
    TEST_ASSERT_TRUE(expected == outputs());
    std::swap(rows[0].sequence, rows[7].sequence);
    TEST_ASSERT_EQUAL_INT(MOTE_INVALID_ARGUMENT, mote_compute(session.get(), call_of(rows), &error));
  }
}

TEST("a computation in bounded steps has the bits of one at once, and a dropped one leaves no trace",
     "[compute]") {
  const test::OpenModel& model = long_model(true);
  const test::OpenSession session(model, options_of(model, 2));
  const auto ids = test::some_ids(60, kVocab);
  std::vector<mote_row> rows;
  for (const int32_t id : ids) rows.push_back({1, id, 0, id == ids.back() && rows.size() + 1 == ids.size()});
  mote_error error{};
  int done = 0;
  const uint32_t free = mote_session_free_positions(session.get());
  must(mote_compute_begin(session.get(), call_of(rows), &error), error);
  must(mote_compute_step(session.get(), 3, &done, &error), error);
  TEST_ASSERT_EQUAL_INT(0, done);
  must(mote_session_truncate(session.get(), 0, 0, &error), error);  // drops it
  TEST_ASSERT_EQUAL_UINT32(free, mote_session_free_positions(session.get()));
  TEST_ASSERT_EQUAL_INT(MOTE_WRONG_STATE, mote_compute_step(session.get(), 3, &done, &error));
  must(mote_compute_begin(session.get(), call_of(rows), &error), error);
  while (done == 0) must(mote_compute_step(session.get(), 3, &done, &error), error);
  TEST_ASSERT_TRUE(test::logits_of(session.get(), kVocab) == alone(model, ids));
}

TEST("rows that cannot be computed are refused and change nothing", "[compute]") {
  const test::OpenModel& model = long_model(false);
  const test::OpenSession session(model, options_of(model, 2));
  const auto before = test::prefill(session.get(), test::some_ids(9, kVocab), kVocab);
  const struct {
    mote_row row;
    const char* reason;
  } kWrong[] = {{{2, 1, 0, 0}, "sequence 2"},
                {{0, kVocab, 0, 0}, "id 100"},
                {{0, -1, 0, 0}, "id -1"},
                {{0, 1, 1, 0}, "token type 1"},
                {{0, 1, 0, 2}, "wants_output 2"}};
  mote_error error{};
  for (const auto& [row, reason] : kWrong) {
    const mote_row rows[] = {{0, 1, 0, 1}, row};
    TEST_ASSERT_EQUAL_INT(MOTE_INVALID_ARGUMENT,
                          mote_compute(session.get(), call_of({rows[0], rows[1]}), &error));
    TEST_ASSERT_NOT_NULL(std::strstr(error.text, reason));
  }
  TEST_ASSERT_EQUAL_INT(MOTE_INVALID_ARGUMENT, mote_compute(session.get(), nullptr, &error));
  TEST_ASSERT_EQUAL_INT(MOTE_INVALID_ARGUMENT, mote_compute(session.get(), call_of({}), &error));
  TEST_ASSERT_EQUAL_INT(MOTE_INVALID_ARGUMENT, mote_session_fork(session.get(), 0, 2, &error));
  const uint32_t beyond[] = {0, 2};
  TEST_ASSERT_EQUAL_INT(MOTE_INVALID_ARGUMENT, mote_session_reorder(session.get(), beyond, &error));
  TEST_ASSERT_EQUAL_INT(MOTE_INVALID_ARGUMENT, mote_session_reorder(session.get(), nullptr, &error));
  TEST_ASSERT_TRUE(before == test::logits_of(session.get(), kVocab));
  TEST_ASSERT_EQUAL_UINT32(9, mote_session_length(session.get(), 0));
}

TEST("a snapshot keeps shared pages shared, and is refused where the pool is too small",
     "[compute][snapshot]") {
  const test::OpenModel& model = long_model(false);
  mote_session_options options = options_of(model, 4);
  options.kv_positions = 4 * 128;
  const test::OpenSession session(model, options), other(model, options);
  const auto ids = test::some_ids(300, kVocab);
  mote_error error{};
  test::prefill(session.get(), ids, kVocab);
  for (const uint32_t to : {1u, 2u, 3u}) must(mote_session_fork(session.get(), 0, to, &error), error);
  test::AlignedBytes state(mote_session_state_bytes(session.get()));
  must(mote_session_save(session.get(), state.data(), state.size(), nullptr, &error), error);
  must(mote_session_restore(other.get(), state.data(), state.size(), &error), error);
  TEST_ASSERT_EQUAL_UINT32(128, mote_session_free_positions(other.get()));
  const auto next = test::some_ids(2, kVocab, 5);
  TEST_ASSERT_TRUE(test::prefill(other.get(), next, kVocab, 3) == alone(model, joined(ids, next)));
  TEST_ASSERT_EQUAL_UINT32(0, mote_session_free_positions(other.get()));

  options.kv_positions = 2 * 128;
  const test::OpenSession small(model, options);
  TEST_ASSERT_EQUAL_INT(MOTE_WRONG_SNAPSHOT,
                        mote_session_restore(small.get(), state.data(), state.size(), &error));
  TEST_ASSERT_NOT_NULL(std::strstr(error.text, "kv_positions"));
}
