// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

#include "runtime/file/xxh64.h"
#include "tests/support/any_session.h"
#include "tests/support/test_model.h"

namespace {

const test::OpenModel& snapshot_model() {
  static const test::OpenModel opened(test::golden_file("mistral", "q8g32"));
  return opened;
}

test::AlignedBytes saved(const mote_session* session) {
  test::AlignedBytes state(mote_session_state_bytes(session));
  size_t written = 0;
  REQUIRE(mote_session_save(session, state.data(), state.size(), &written, nullptr) == MOTE_OK);
  REQUIRE(written == state.size());
  return state;
}

test::AlignedBytes some_state() {
  const test::OpenSession session(snapshot_model(), mote_session_options_default(snapshot_model().get()));
  test::prefill(session.get(), test::some_ids(17, 100), 100);
  return saved(session.get());
}

mote_status restore(const mote_session_options& options, const test::AlignedBytes& state, const char* word,
                    const test::OpenModel& into = snapshot_model()) {
  const test::OpenSession session(into, options);
  mote_error error{};
  const mote_status status = mote_session_restore(session.get(), state.data(), state.size(), &error);
  if (status != MOTE_OK) {
    CAPTURE(error.text, word);
    REQUIRE(std::strstr(error.text, word) != nullptr);
  }
  return status;
}

/// After 17 tokens: the last value of a bf16 cache is half of a pair, of an i8 cache one of a block.
void expect_continuation(mote_kv_dtype kv_dtype) {
  mote_session_options options = mote_session_options_default(snapshot_model().get());
  options.kv_dtype = kv_dtype;
  const test::OpenSession first(snapshot_model(), options), second(snapshot_model(), options);
  mote_sampling sampling = mote_sampling_default();
  sampling.temperature = 1.5f;
  sampling.seed = 3;
  TEST_ASSERT_EQUAL_INT(MOTE_OK, mote_sample_begin(first.get(), &sampling, nullptr));
  test::prefill(first.get(), test::some_ids(17, 100), 100);
  int32_t id;
  TEST_ASSERT_EQUAL_INT(MOTE_OK, mote_sample(first.get(), 0, &id, nullptr));
  const test::AlignedBytes state = saved(first.get());
  TEST_ASSERT_EQUAL_INT(MOTE_OK, mote_session_restore(second.get(), state.data(), state.size(), nullptr));
  TEST_ASSERT_EQUAL_UINT32(17, mote_session_length(second.get(), 0));
  TEST_ASSERT_TRUE(test::logits_of(first.get(), 100) == test::logits_of(second.get(), 100));
  for (int i = 0; i < 10; ++i) {
    int32_t expected, actual;
    TEST_ASSERT_EQUAL_INT(MOTE_OK, mote_sample(first.get(), 0, &expected, nullptr));
    TEST_ASSERT_EQUAL_INT(MOTE_OK, mote_sample(second.get(), 0, &actual, nullptr));
    TEST_ASSERT_EQUAL_INT(expected, actual);
    TEST_ASSERT_EQUAL_INT(MOTE_OK, mote_decode(first.get(), &expected, nullptr));
    TEST_ASSERT_EQUAL_INT(MOTE_OK, mote_decode(second.get(), &actual, nullptr));
  }
}

constexpr float kTemperature = 1.23456f;  // bits that are nowhere else in a snapshot

mote_generation sampled_generation() {
  mote_generation generation = mote_generation_default();
  generation.sampling.temperature = kTemperature;
  generation.max_tokens = 8;
  generation.ignore_model_stops = 1;
  return generation;
}

/// `state` with another word at `at`, and the hash of that.
test::AlignedBytes forged(const test::AlignedBytes& state, size_t at, uint32_t word) {
  test::AlignedBytes copy = state;
  std::memcpy(copy.data() + at, &word, sizeof word);
  const uint64_t hash = mote::xxh64(copy.data(), copy.size() - sizeof hash);
  std::memcpy(copy.data() + copy.size() - sizeof hash, &hash, sizeof hash);
  return copy;
}

/// Snapshots that a session refuses, though the hash of most is right.
std::vector<test::AlignedBytes> refused_snapshots(const test::AlignedBytes& state) {
  constexpr size_t kVersion = 8, kModel = 16, kSequences = 36, kFirstLength = 48;
  size_t temperature = 0;
  while (std::memcmp(state.data() + temperature, &kTemperature, sizeof kTemperature) != 0) ++temperature;
  std::vector<test::AlignedBytes> refused;
  for (const size_t at : {kVersion, kModel, kSequences, kFirstLength, temperature})
    refused.push_back(forged(state, at, 0x7fffffff));
  refused.emplace_back(state.data(), state.size() - 64);  // cut short
  return refused;
}

/// Steps until a token comes.
int32_t next_token(mote_session* session) {
  mote_event event{};
  REQUIRE(mote_session_step(session, 0, &event, nullptr) == MOTE_OK);
  return event.id;
}

/// A window that 300 tokens leave pages behind of.
const test::OpenModel& long_model() {
  static const test::AlignedBytes file = test::file_with_context_600("mistral", 58, "q8g32");
  static const test::OpenModel opened(file);
  return opened;
}

/// A life of a session that ends in a snapshot.
struct Life {
  const char* name;
  void (*live)(mote_session* session);
};

void prefill(mote_session* session, uint32_t sequence, uint32_t tokens, mote_logits logits) {
  const auto ids = test::some_ids(tokens, 100, sequence);
  REQUIRE(mote_prefill(session, sequence, ids.data(), tokens, logits, nullptr) == MOTE_OK);
}

void truncate(mote_session* session, uint32_t sequence, uint32_t length) {
  REQUIRE(mote_session_truncate(session, sequence, length, nullptr) == MOTE_OK);
}

void sample(mote_session* session, uint32_t tokens) {
  mote_sampling sampling = mote_sampling_default();
  sampling.temperature = 1;
  sampling.repetition_penalty = 1.5f;
  REQUIRE(mote_sample_begin(session, &sampling, nullptr) == MOTE_OK);
  for (uint32_t i = 0; i < tokens; ++i) {
    int32_t id;
    REQUIRE(mote_sample(session, 0, &id, nullptr) == MOTE_OK);
  }
}

/// Every session has two sequences.
constexpr Life kLives[] = {
    {"empty", [](mote_session*) {}},
    {"a token", [](mote_session* s) { prefill(s, 0, 1, MOTE_LOGITS_LAST); }},
    {"no logits", [](mote_session* s) { prefill(s, 0, 5, MOTE_LOGITS_NONE); }},
    {"a whole block", [](mote_session* s) { prefill(s, 1, 16, MOTE_LOGITS_LAST); }},
    {"two sequences, many logits",
     [](mote_session* s) {
       prefill(s, 0, 31, MOTE_LOGITS_LAST);
       prefill(s, 1, 18, MOTE_LOGITS_ALL);
     }},
    {"a few ids sampled",
     [](mote_session* s) {
       prefill(s, 0, 7, MOTE_LOGITS_LAST);
       sample(s, 60);
     }},
    {"more ids sampled than are remembered",
     [](mote_session* s) {
       prefill(s, 0, 17, MOTE_LOGITS_LAST);
       sample(s, 300);
     }},
    {"truncated",
     [](mote_session* s) {
       prefill(s, 0, 50, MOTE_LOGITS_LAST);
       truncate(s, 0, 21);
       prefill(s, 1, 23, MOTE_LOGITS_LAST);
     }},
    {"a whole page", [](mote_session* s) { prefill(s, 1, 128, MOTE_LOGITS_LAST); }},
    {"two pages in part, nothing overwritten",
     [](mote_session* s) {
       prefill(s, 0, 150, MOTE_LOGITS_LAST);
       prefill(s, 1, 192, MOTE_LOGITS_LAST);
     }},
    {"a window that slid", [](mote_session* s) { prefill(s, 0, 300, MOTE_LOGITS_LAST); }},
    {"a window that slid and was emptied",
     [](mote_session* s) {
       prefill(s, 0, 300, MOTE_LOGITS_LAST);
       truncate(s, 0, 0);
       prefill(s, 0, 6, MOTE_LOGITS_LAST);
     }},
};

mote_session_options options_of_lives(mote_kv_dtype kv_dtype) {
  mote_session_options options = mote_session_options_default(long_model().get());
  options.batch = 2;
  options.logit_rows = 18;
  options.kv_dtype = kv_dtype;
  return options;
}

void expect_same_bytes(const test::AlignedBytes& expected, const test::AlignedBytes& actual) {
  TEST_ASSERT_EQUAL_UINT64(expected.size(), actual.size());
  TEST_ASSERT_EQUAL_MEMORY(expected.data(), actual.data(), expected.size());
}

/// Logits of both sequences after one more token each.
std::vector<float> next_logits(mote_session* session) {
  const int32_t ids[] = {3, 4};
  REQUIRE(mote_decode(session, ids, nullptr) == MOTE_OK);
  std::vector<float> logits = test::logits_of(session, 100, 0), second = test::logits_of(session, 100, 1);
  logits.insert(logits.end(), second.begin(), second.end());
  return logits;
}

/// Two sessions of the same options, whose arenas hold different bytes before.
struct Pair {
  test::AnySession first, second;
  explicit Pair(const mote_session_options& options) {
    REQUIRE(first.open(long_model().get(), options, 0xEE) == MOTE_OK);
    REQUIRE(second.open(long_model().get(), options, 0x11) == MOTE_OK);
  }
};

/// Calls f(life, first, second) with a pair of sessions for each life and type of cache.
template <class F>
void each_life(F f) {
  for (const mote_kv_dtype kv_dtype : {MOTE_KV_F32, MOTE_KV_F16, MOTE_KV_BF16, MOTE_KV_I8}) {
    for (const Life& life : kLives) {
      CAPTURE(static_cast<int>(kv_dtype), life.name);
      Pair pair(options_of_lives(kv_dtype));
      f(life, pair.first, pair.second);
    }
  }
}

}  // namespace

TEST("sessions of one life give one snapshot, whatever their arenas held before") {
  each_life([](const Life& life, test::AnySession& first, test::AnySession& second) {
    life.live(first.get());
    life.live(second.get());
    expect_same_bytes(saved(first.get()), saved(second.get()));
  });
}

TEST("a session that was emptied gives the snapshot of a new one") {
  each_life([](const Life& life, test::AnySession& used, test::AnySession& fresh) {
    prefill(used.get(), 0, 400, MOTE_LOGITS_LAST);
    sample(used.get(), 270);
    prefill(used.get(), 1, 90, MOTE_LOGITS_LAST);
    truncate(used.get(), 0, 0);
    truncate(used.get(), 1, 0);
    const mote_sampling greedy = mote_sampling_default();
    REQUIRE(mote_sample_begin(used.get(), &greedy, nullptr) == MOTE_OK);
    life.live(used.get());
    life.live(fresh.get());
    expect_same_bytes(saved(fresh.get()), saved(used.get()));
  });
}

TEST("a restored session is saved the same again and goes on with the same bits") {
  each_life([](const Life& life, test::AnySession& session, test::AnySession& restored) {
    life.live(session.get());
    const test::AlignedBytes state = saved(session.get());
    REQUIRE(mote_session_restore(restored.get(), state.data(), state.size(), nullptr) == MOTE_OK);
    expect_same_bytes(state, saved(restored.get()));
    TEST_ASSERT_TRUE(next_logits(session.get()) == next_logits(restored.get()));
    expect_same_bytes(saved(session.get()), saved(restored.get()));
  });
}

TEST("a restored session has the logits, the sampler and the continuation of the saved one") {
  for (const mote_kv_dtype kv_dtype : {MOTE_KV_F32, MOTE_KV_F16, MOTE_KV_BF16, MOTE_KV_I8}) {
    CAPTURE(kv_dtype);
    expect_continuation(kv_dtype);
  }
}

TEST("an empty session can be saved and restored") {
  const mote_session_options options = mote_session_options_default(snapshot_model().get());
  const test::OpenSession session(snapshot_model(), options);
  const test::AlignedBytes empty = saved(session.get());
  test::prefill(session.get(), test::some_ids(5, 100), 100);
  TEST_ASSERT_EQUAL_INT(MOTE_OK, mote_session_restore(session.get(), empty.data(), empty.size(), nullptr));
  TEST_ASSERT_EQUAL_UINT32(0, mote_session_length(session.get(), 0));
  TEST_ASSERT_NULL(mote_session_logits(session.get(), 0));
}

TEST("a snapshot is refused elsewhere, each time with the reason") {
  const test::AlignedBytes state = some_state();
  const mote_session_options good = mote_session_options_default(snapshot_model().get());
  TEST_ASSERT_EQUAL_INT(MOTE_OK, restore(good, state, ""));

  mote_session_options options = good;
  options.kv_dtype = MOTE_KV_F32;
  TEST_ASSERT_EQUAL_INT(MOTE_WRONG_SNAPSHOT, restore(options, state, "KV cache"));
  options = good;
  options.context = 10;
  TEST_ASSERT_EQUAL_INT(MOTE_WRONG_SNAPSHOT, restore(options, state, ""));
  const test::OpenModel other(test::golden_file("mistral", "q4g32"));
  TEST_ASSERT_EQUAL_INT(MOTE_WRONG_SNAPSHOT,
                        restore(mote_session_options_default(other.get()), state, "another model", other));
  const test::OpenSession any(snapshot_model(), good);
  if (mote_session_isa(any.get()) != MOTE_ISA_REF) {
    options = good;
    options.isa = MOTE_ISA_REF;
    TEST_ASSERT_EQUAL_INT(MOTE_WRONG_SNAPSHOT, restore(options, state, "kernel family"));
  }
  options = good;
  options.batch = options.logit_rows = 2;
  TEST_ASSERT_EQUAL_INT(MOTE_OK, restore(options, state, ""));
  const test::OpenSession two(snapshot_model(), options);
  TEST_ASSERT_EQUAL_INT(MOTE_WRONG_SNAPSHOT, restore(good, saved(two.get()), "more sequences"));
}

TEST("a snapshot is restored in a longer or shorter context") {
  mote_session_options options = mote_session_options_default(long_model().get());
  const auto saved_with = [&](uint32_t context, uint32_t tokens) {
    options.context = context;
    const test::OpenSession session(long_model(), options);
    prefill(session.get(), 0, tokens, MOTE_LOGITS_LAST);
    return saved(session.get());
  };
  constexpr uint32_t kContexts[][2] = {{600, 300}, {300, 600}, {40, 100}, {100, 40}, {256, 600}, {600, 40}};
  for (const auto& [from, to] : kContexts) {
    CAPTURE(from, to);
    const test::AlignedBytes state = saved_with(from, std::min({from, to, 290u}) - 1);
    options.context = to;
    const test::OpenSession session(long_model(), options);
    REQUIRE(mote_session_restore(session.get(), state.data(), state.size(), nullptr) == MOTE_OK);
    expect_same_bytes(saved_with(to, std::min({from, to, 290u}) - 1), saved(session.get()));
  }
}

TEST("a snapshot cut or changed anywhere is refused and the session stays as it was") {
  const test::AlignedBytes state = some_state();
  const test::OpenSession session(snapshot_model(), mote_session_options_default(snapshot_model().get()));
  const auto before = test::prefill(session.get(), test::some_ids(6, 100, 4), 100);
  for (size_t at = 0; at < state.size(); at += at < 256 ? 1 : 97) {
    CAPTURE(at);
    test::AlignedBytes part(at);
    if (at != 0) std::memcpy(part.data(), state.data(), at);
    REQUIRE(mote_session_restore(session.get(), part.data(), at, nullptr) != MOTE_OK);
    state.data()[at] ^= 0x10;
    REQUIRE(mote_session_restore(session.get(), state.data(), state.size(), nullptr) == MOTE_WRONG_SNAPSHOT);
    state.data()[at] ^= 0x10;
  }
  TEST_ASSERT_EQUAL_UINT32(6, mote_session_length(session.get(), 0));
  TEST_ASSERT_TRUE(before == test::logits_of(session.get(), 100));
}

TEST("a generation in progress goes on after a refused snapshot as if there had been none") {
  const test::OpenSession other(snapshot_model(), mote_session_options_default(snapshot_model().get()));
  const mote_generation generation = sampled_generation();
  const auto ids = test::some_ids(9, 100), prompt = test::some_ids(12, 100, 4);
  REQUIRE(mote_generation_begin(other.get(), ids.data(), 9, &generation, nullptr) == MOTE_OK);
  next_token(other.get());
  const std::vector<test::AlignedBytes> refused = refused_snapshots(saved(other.get()));

  const test::OpenSession left_alone(snapshot_model(), mote_session_options_default(snapshot_model().get()));
  const test::OpenSession disturbed(snapshot_model(), mote_session_options_default(snapshot_model().get()));
  for (const test::OpenSession* session : {&left_alone, &disturbed})
    REQUIRE(mote_generation_begin(session->get(), prompt.data(), 12, &generation, nullptr) == MOTE_OK);
  for (uint32_t token = 0; token < generation.max_tokens; ++token) {
    mote_event event{};
    REQUIRE(mote_session_step(disturbed.get(), 5, &event, nullptr) == MOTE_OK);  // amid a run
    REQUIRE(event.has_token == 0);
    for (const test::AlignedBytes& snapshot : refused) {
      REQUIRE(mote_session_restore(disturbed.get(), snapshot.data(), snapshot.size(), nullptr) ==
              MOTE_WRONG_SNAPSHOT);
    }
    REQUIRE(mote_session_restore(disturbed.get(), nullptr, 64, nullptr) == MOTE_INVALID_ARGUMENT);
    REQUIRE(mote_session_restore(disturbed.get(), refused[0].data() + 1, 64, nullptr) == MOTE_NOT_ALIGNED);
    TEST_ASSERT_EQUAL_INT(next_token(left_alone.get()), next_token(disturbed.get()));
  }
  TEST_ASSERT_EQUAL_UINT32(mote_session_length(left_alone.get(), 0), mote_session_length(disturbed.get(), 0));
}

TEST("saving into too few bytes is refused") {
  const test::OpenSession session(snapshot_model(), mote_session_options_default(snapshot_model().get()));
  test::AlignedBytes state(mote_session_state_bytes(session.get()));
  TEST_ASSERT_EQUAL_INT(MOTE_TOO_SMALL,
                        mote_session_save(session.get(), state.data(), state.size() - 1, nullptr, nullptr));
}
