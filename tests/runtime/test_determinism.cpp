// SPDX-License-Identifier: Apache-2.0
//
// The same file, ids and kernel family give the same bits whatever the threads, the chunks, the batch and the
// bounds of the steps.
#include "tests/support/test_model.h"
#include "tests/support/thread_pool.h"

namespace {

constexpr uint32_t kLongText = 50;
const struct {
  const char *name, *type;
  mote_kv_dtype cache;
} kModels[] = {{"llama", "f32", MOTE_KV_AUTO},      {"mistral", "f16", MOTE_KV_AUTO},
               {"qwen3", "q8g32", MOTE_KV_AUTO},    {"gpt2", "q4g32", MOTE_KV_AUTO},
               {"qwen2", "q8c", MOTE_KV_AUTO},      {"llama_bias", "q4mg32", MOTE_KV_AUTO},
               {"qwen3", "q8g32", MOTE_KV_BF16},    {"qwen2", "q8c", MOTE_KV_I8},
               {"mixtral", "q4g32", MOTE_KV_AUTO},  {"qwen2_moe", "q8g32", MOTE_KV_AUTO},
               {"falcon_h1", "q8g32", MOTE_KV_AUTO}};

/// Logits of the last prompt token and of three decoded ones.
std::vector<float> trajectory(mote_session* session, uint32_t vocab) {
  const auto ids = test::some_ids(kLongText, vocab);
  std::vector<float> all = test::prefill(session, {ids.begin(), ids.end() - 3}, vocab);
  for (uint32_t i = kLongText - 3; i < kLongText; ++i) {
    mote_error error{};
    REQUIRE(mote_decode(session, &ids[i], &error) == MOTE_OK);
    const auto logits = test::logits_of(session, vocab);
    all.insert(all.end(), logits.begin(), logits.end());
  }
  return all;
}

/// Calls f(model, options) for each model on each family.
template <class F>
void each_model(F f) {
  for (const mote_isa isa : test::all_families()) {
    for (const auto& [name, type, cache] : kModels) {
      CAPTURE(mote_isa_name(isa), name, type, static_cast<int>(cache));
      const test::OpenModel model(test::golden_file(name, type));
      mote_session_options options = mote_session_options_default(model.get());
      options.isa = isa;
      options.kv_dtype = cache;
      f(model, options);
    }
  }
}

template <class Change>
void same_bits(Change change) {
  each_model([&](const test::OpenModel& model, const mote_session_options& options) {
    const uint32_t vocab = model.info().vocab;
    const std::vector<float> expected = trajectory(test::OpenSession(model, options).get(), vocab);
    change(options, [&](const mote_session_options& changed) {
      const std::vector<float> actual = trajectory(test::OpenSession(model, changed).get(), vocab);
      REQUIRE(std::memcmp(expected.data(), actual.data(), expected.size() * sizeof(float)) == 0);
    });
  });
}

}  // namespace

TEST("the kernel families that tests walk are those that sessions take, the default one too") {
  const test::OpenModel model(test::golden_file("llama", "f32"));
  mote_session_options options = test::small_options(model);
  const std::vector<mote_isa> walked = test::all_families();
  const mote_isa best = mote_session_isa(test::OpenSession(model, options).get());
  REQUIRE(std::count(walked.begin(), walked.end(), best) == 1);
  for (int isa = MOTE_ISA_REF; mote_isa_name(static_cast<mote_isa>(isa)) != std::string("auto"); ++isa) {
    options.isa = static_cast<mote_isa>(isa);
    const bool taken = mote_session_bytes(model.get(), &options) != 0;
    CAPTURE(mote_isa_name(options.isa));
    REQUIRE(taken == (std::count(walked.begin(), walked.end(), options.isa) == 1));
  }
}

TEST("logits are bitwise equal where the last of three threads does the work of all") {
  uint32_t forks = 0;
  same_bits([&forks](mote_session_options options, auto compare) {
    options.platform = {};
    options.platform.user = &forks;
    options.platform.threads = 3;
    options.platform.parallel_for = [](void* user, mote_task task, void* context, uint32_t count) {
      ++*static_cast<uint32_t*>(user);
      for (uint32_t index = count; index-- > 0;) task(context, index);
    };
    options.threads = 3;
    compare(options);
  });
  REQUIRE(forks > 0);
}

TEST("logits are bitwise equal for 1, 2 and 3 threads") {
  same_bits([](mote_session_options options, auto compare) {
    for (const uint32_t threads : {1u, 2u, 3u}) {
      const test::ThreadPool pool(threads);
      const mote_isa isa = options.isa;
      options.platform = pool.platform();
      options.isa = isa;
      options.threads = threads;
      compare(options);
    }
  });
}

TEST("logits are bitwise equal where fewer threads decode than read prompts") {
  same_bits([](mote_session_options options, auto compare) {
    const test::ThreadPool pool(3);
    const mote_isa isa = options.isa;
    options.platform = pool.platform();
    options.isa = isa;
    for (const uint32_t threads : {1u, 2u, 3u}) {
      options.decode_threads = threads;
      compare(options);
    }
  });
}

TEST("calls that give no sequence more than one token run in the threads for decoding, others in all") {
  constexpr uint32_t kSequences = 64;
  const test::OpenModel model(test::golden_file("llama", "f32"));
  const auto ids = test::some_ids(kSequences, model.info().vocab);
  for (const uint32_t decode_threads : {0u, 1u, 2u}) {
    uint32_t most = 0;  // threads at once
    mote_session_options options = mote_session_options_default(model.get());
    options.batch = options.chunk = options.logit_rows = kSequences;
    options.platform.user = &most;
    options.platform.threads = 3;
    options.platform.parallel_for = [](void* user, mote_task task, void* context, uint32_t count) {
      *static_cast<uint32_t*>(user) = std::max(*static_cast<uint32_t*>(user), count);
      for (uint32_t index = 0; index < count; ++index) task(context, index);
    };
    options.decode_threads = decode_threads;
    const test::OpenSession session(model, options);
    mote_error error{};
    REQUIRE(mote_decode(session.get(), ids.data(), &error) == MOTE_OK);
    TEST_ASSERT_EQUAL(decode_threads == 1 ? 0u : decode_threads == 2 ? 2u : 3u, most);
    most = 0;
    REQUIRE(mote_prefill(session.get(), 0, ids.data(), kSequences, MOTE_LOGITS_LAST, &error) == MOTE_OK);
    TEST_ASSERT_EQUAL(3u, most);
  }
}

TEST("decoding far into a text gives the same bits where threads share the positions of a head") {
  const test::AlignedBytes file = test::file_with_context_600("llama", 66);  // two KV heads
  const test::OpenModel model(file);
  const uint32_t vocab = model.info().vocab;
  const auto ids = test::some_ids(600, vocab);
  for (const mote_isa isa : test::all_families()) {
    std::vector<float> expected;
    for (const uint32_t threads : {1u, 2u, 3u}) {
      CAPTURE(mote_isa_name(isa), threads);
      const test::ThreadPool pool(threads);
      mote_session_options options = mote_session_options_default(model.get());
      options.platform = pool.platform();
      options.isa = isa;
      const test::OpenSession session(model, options);
      std::vector<float> all;
      for (const uint32_t depth : {250u, 590u}) {
        test::prefill(session.get(),
                      {ids.begin() + mote_session_length(session.get(), 0), ids.begin() + depth}, vocab);
        for (uint32_t i = depth; i < depth + 10; ++i) {  // across the end of a segment
          REQUIRE(mote_decode(session.get(), &ids[i], nullptr) == MOTE_OK);
          const auto logits = test::logits_of(session.get(), vocab);
          all.insert(all.end(), logits.begin(), logits.end());
        }
      }
      if (threads == 1) expected = all;
      TEST_ASSERT_EQUAL_MEMORY(expected.data(), all.data(), expected.size() * sizeof(float));
    }
  }
}

TEST("logits of a long chunk are bitwise equal where each of 1, 2 and 3 threads has rows of its own") {
  for (const char* type : {"f32", "q8c", "q4mg32"}) {
    const test::AlignedBytes file = test::file_with_context_600("llama", 66, type);
    const test::OpenModel model(file);
    const uint32_t vocab = model.info().vocab;
    const auto ids = test::some_ids(401, vocab);  // 133 or 134 for each of three
    for (const mote_isa isa : test::all_families()) {
      std::vector<float> expected;
      for (const uint32_t threads : {1u, 2u, 3u}) {
        CAPTURE(type, mote_isa_name(isa), threads);
        const test::ThreadPool pool(threads);
        mote_session_options options = mote_session_options_default(model.get());
        options.platform = pool.platform();
        options.isa = isa;
        options.threads = threads;
        options.chunk = options.logit_rows = 401;
        const test::OpenSession session(model, options);
        mote_error error{};
        REQUIRE(mote_prefill(session.get(), 0, ids.data(), 401, MOTE_LOGITS_ALL, &error) == MOTE_OK);
        std::vector<float> all;
        for (uint32_t row = 0; row < 401; ++row) {
          const auto logits = test::logits_of(session.get(), vocab, row);
          all.insert(all.end(), logits.begin(), logits.end());
        }
        if (threads == 1) expected = all;
        TEST_ASSERT_EQUAL_MEMORY(expected.data(), all.data(), expected.size() * sizeof(float));
      }
    }
  }
}

TEST("logits are bitwise equal for chunks of 1, 7 and 64") {
  same_bits([](mote_session_options options, auto compare) {
    for (const uint32_t chunk : {1u, 7u, 64u}) {
      options.chunk = chunk;
      compare(options);
    }
  });
}

TEST("logits are bitwise equal after saving and restoring in the middle") {
  each_model([](const test::OpenModel& model, const mote_session_options& options) {
    const uint32_t vocab = model.info().vocab;
    const test::OpenSession first(model, options), second(model, options);
    const auto ids = test::some_ids(kLongText, vocab);
    const std::vector<int32_t> head(ids.begin(), ids.begin() + 20), tail(ids.begin() + 20, ids.end());
    test::prefill(first.get(), head, vocab);
    test::AlignedBytes state(mote_session_state_bytes(first.get()));
    mote_error error{};
    REQUIRE(mote_session_save(first.get(), state.data(), state.size(), nullptr, &error) == MOTE_OK);
    const auto expected = test::prefill(first.get(), tail, vocab);
    REQUIRE(mote_session_restore(second.get(), state.data(), state.size(), &error) == MOTE_OK);
    const auto actual = test::prefill(second.get(), tail, vocab);
    REQUIRE(std::memcmp(expected.data(), actual.data(), expected.size() * sizeof(float)) == 0);
  });
}

TEST("a sequence in a batch gives the bits it gives alone") {
  const test::OpenModel model(test::golden_file("qwen2", "q8g32"));
  mote_session_options options = mote_session_options_default(model.get());
  const test::OpenSession alone(model, options);
  options.batch = 3;
  options.logit_rows = 3;
  const test::OpenSession batch(model, options);
  mote_error error{};
  const auto last = test::some_ids(3, 100, 9);
  for (uint32_t sequence = 0; sequence < 3; ++sequence) {
    test::prefill(batch.get(), test::some_ids(5 + 7 * sequence, 100, sequence), 100, sequence);
  }
  TEST_ASSERT_EQUAL_INT(MOTE_OK, mote_decode(batch.get(), last.data(), &error));
  for (uint32_t sequence = 0; sequence < 3; ++sequence) {
    TEST_ASSERT_EQUAL_INT(MOTE_OK, mote_session_truncate(alone.get(), 0, 0, &error));
    test::prefill(alone.get(), test::some_ids(5 + 7 * sequence, 100, sequence), 100);
    const auto expected = test::prefill(alone.get(), {last[sequence]}, 100);
    TEST_ASSERT_TRUE(expected == test::logits_of(batch.get(), 100, sequence));
  }
}

TEST("a sequence left out of a decode keeps its tokens and has no logits") {
  const test::OpenModel model(test::golden_file("llama", "f32"));
  mote_session_options options = test::small_options(model);
  options.batch = options.logit_rows = 2;
  const test::OpenSession session(model, options);
  const int32_t ids[] = {-1, 7};
  mote_error error{};
  TEST_ASSERT_EQUAL_INT(MOTE_OK, mote_decode(session.get(), ids, &error));
  TEST_ASSERT_NULL(mote_session_logits(session.get(), 0));
  TEST_ASSERT_NOT_NULL(mote_session_logits(session.get(), 1));
  TEST_ASSERT_EQUAL_UINT32(0, mote_session_length(session.get(), 0));
  TEST_ASSERT_EQUAL_UINT32(1, mote_session_length(session.get(), 1));
}

TEST("a sliding window that drops pages gives the bits of a cache that keeps everything") {
  const test::AlignedBytes file =
      test::file_with_context_600("mistral", 58);  // two or three pages for five tiles
  const test::OpenModel model(file);
  const auto ids = test::some_ids(600, 100);
  for (const mote_isa isa : test::all_families()) {
    mote_session_options options = mote_session_options_default(model.get());
    options.isa = isa;
    options.chunk = 600;  // window and chunk take more pages than the context
    const test::OpenSession whole(model, options);
    const auto expected = test::prefill(whole.get(), ids, 100);
    for (const uint32_t chunk : {1u, 64u, 100u}) {
      options.chunk = chunk;
      const test::OpenSession sliding(model, options);
      CAPTURE(mote_isa_name(isa), chunk);
      const auto actual = test::prefill(sliding.get(), ids, 100);
      REQUIRE(std::memcmp(expected.data(), actual.data(), expected.size() * sizeof(float)) == 0);
      // What was dropped cannot come back; the last 128 tokens can be rolled back.
      REQUIRE(mote_session_truncate(sliding.get(), 0, 388, nullptr) == MOTE_INVALID_ARGUMENT);
      REQUIRE(mote_session_truncate(sliding.get(), 0, 472, nullptr) == MOTE_OK);
      REQUIRE(mote_session_truncate(sliding.get(), 0, 0, nullptr) == MOTE_OK);
    }
  }
}

TEST("tokens before a prompt that broke off are there, or refused where a window has dropped them") {
  const test::AlignedBytes file = test::file_with_context_600("mistral", 58);
  const test::OpenModel model(file);
  const auto ids = test::some_ids(480, 100);
  const mote_session_options options = mote_session_options_default(model.get());  // chunks of 64
  const mote_generation generation = mote_generation_default();
  uint32_t truncated = 0;
  for (const uint32_t present : {40u, 128u, 192u, 256u, 330u, 400u}) {
    for (const uint32_t kept : {1u, 10u, 39u}) {
      CAPTURE(present, kept);
      const test::OpenSession broken_off(model, options), whole(model, options);
      test::prefill(broken_off.get(), {ids.begin(), ids.begin() + present}, 100);
      REQUIRE(mote_generation_begin(broken_off.get(), ids.data() + present, 64, &generation, nullptr) ==
              MOTE_OK);
      for (int step = 0; step < 20; ++step) {
        mote_event event{};
        REQUIRE(mote_session_step(broken_off.get(), 1, &event, nullptr) == MOTE_OK);
        REQUIRE(event.has_token == 0);
      }
      if (mote_session_truncate(broken_off.get(), 0, kept, nullptr) != MOTE_OK) continue;
      ++truncated;
      test::prefill(whole.get(), {ids.begin(), ids.begin() + kept}, 100);
      REQUIRE(mote_decode(broken_off.get(), &ids[kept], nullptr) == MOTE_OK);
      REQUIRE(mote_decode(whole.get(), &ids[kept], nullptr) == MOTE_OK);
      TEST_ASSERT_TRUE(test::logits_of(whole.get(), 100) == test::logits_of(broken_off.get(), 100));
    }
  }
  TEST_ASSERT_EQUAL_UINT32(12, truncated);  // the first four
}
