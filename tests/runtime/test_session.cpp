// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <nlohmann/json.hpp>

#include "tests/support/test_model.h"

namespace {

const test::OpenModel& llama() {
  static const test::OpenModel model(test::golden_file("llama", "f32"));
  return model;
}

mote_status init_status(const mote_session_options& options, mote_error* error) {
  test::AlignedBytes arena(size_t{8} << 20);
  mote_session* session = nullptr;
  return mote_session_init(llama().get(), &options, arena.data(), arena.size(), &session, error);
}

}  // namespace

TEST("an arena one byte too small is refused and the message says how many it takes") {
  const mote_session_options options = test::small_options(llama());
  const size_t bytes = mote_session_bytes(llama().get(), &options);
  test::AlignedBytes arena(bytes);
  mote_session* session = nullptr;
  mote_error error{};
  TEST_ASSERT_EQUAL_INT(
      MOTE_TOO_SMALL, mote_session_init(llama().get(), &options, arena.data(), bytes - 1, &session, &error));
  TEST_ASSERT_NOT_NULL(std::strstr(error.text, std::to_string(bytes).c_str()));
  TEST_ASSERT_EQUAL_INT(MOTE_OK,
                        mote_session_init(llama().get(), &options, arena.data(), bytes, &session, &error));
}

TEST("the parts of the memory report add up to the arena") {
  const mote_session_options options = test::small_options(llama());
  mote_memory memory{};
  TEST_ASSERT_EQUAL_INT(MOTE_OK, mote_session_memory(llama().get(), &options, &memory, nullptr));
  TEST_ASSERT_EQUAL_UINT64(mote_session_bytes(llama().get(), &options), memory.session + memory.activations +
                                                                            memory.scratch + memory.kv_cache +
                                                                            memory.states + memory.sampler);
}

TEST("f32 weights take an f32 cache by default and half of it with f16") {
  mote_session_options options = test::small_options(llama());
  mote_memory automatic{}, half{};
  TEST_ASSERT_EQUAL_INT(MOTE_OK, mote_session_memory(llama().get(), &options, &automatic, nullptr));
  options.kv_dtype = MOTE_KV_F16;
  TEST_ASSERT_EQUAL_INT(MOTE_OK, mote_session_memory(llama().get(), &options, &half, nullptr));
#ifdef MOTE_SANITIZED
  constexpr uint64_t kGaps = 1024;  // between the parts of an arena under AddressSanitizer
#else
  constexpr uint64_t kGaps = 0;
#endif
  TEST_ASSERT_TRUE(2 * half.kv_cache >= automatic.kv_cache &&
                   2 * half.kv_cache - automatic.kv_cache <= kGaps);
}

TEST("options out of range are refused, each with its message") {
  mote_error error{};
  const mote_session_options good = test::small_options(llama());
  const auto refused = [&](auto change, mote_status status, const char* word) {
    mote_session_options options = good;
    change(options);
    CAPTURE(word);
    REQUIRE(mote_session_bytes(llama().get(), &options) == 0);
    REQUIRE(init_status(options, &error) == status);
    REQUIRE(std::strstr(error.text, word) != nullptr);
  };
  refused([](auto& o) { o.context = 0; }, MOTE_INVALID_ARGUMENT, "context");
  refused([](auto& o) { o.context = 67; }, MOTE_INVALID_ARGUMENT, "context");
  refused([](auto& o) { o.chunk = 0; }, MOTE_INVALID_ARGUMENT, "chunk");
  refused([](auto& o) { o.batch = 0; }, MOTE_INVALID_ARGUMENT, "sequences");
  refused([](auto& o) { o.batch = o.chunk + 1; }, MOTE_INVALID_ARGUMENT, "chunk");
  refused([](auto& o) { o.logit_rows = 0; }, MOTE_INVALID_ARGUMENT, "logits");
  refused([](auto& o) { o.threads = 2; }, MOTE_INVALID_ARGUMENT, "threads");
  refused([](auto& o) { o.decode_threads = 2; }, MOTE_INVALID_ARGUMENT, "threads to decode");
  refused([](auto& o) { memset(&o.kv_dtype, 0x55, sizeof o.kv_dtype); }, MOTE_INVALID_ARGUMENT, "KV cache");
  refused([](auto& o) { o.isa = static_cast<mote_isa>(-1); }, MOTE_UNSUPPORTED_ISA, "MOTE_ISA");
#if defined(__aarch64__) || defined(__arm__)
  refused([](auto& o) { o.isa = MOTE_ISA_AVX2; }, MOTE_UNSUPPORTED_ISA, "kernels");
#else
  refused([](auto& o) { o.isa = MOTE_ISA_NEON; }, MOTE_UNSUPPORTED_ISA, "kernels");
#endif
}

TEST("a cache of bf16 needs heads of an even width, one of i8 a multiple of 4") {
  namespace fs = std::filesystem;
  const fs::path folder = test::temporary_folder() / "odd_heads", file = folder / "odd.mote";
  fs::copy(test::golden_folder() / "gpt2", folder, fs::copy_options::recursive);
  nlohmann::json config = nlohmann::json::parse(std::ifstream(folder / "config.json"));
  config["n_head"] = config.at("n_embd").get<int>() / 5;
  std::ofstream(folder / "config.json") << config;
  mote::convert::ConvertOptions convert_options;
  convert_options.type = "q8g32";
  mote::convert::convert(folder, file, convert_options);
  const test::AlignedBytes bytes = test::read_file(file);
  const test::OpenModel model(bytes);
  mote_session_options options = test::small_options(model);
  TEST_ASSERT_TRUE(mote_session_bytes(model.get(), &options) > 0);
  mote_error error{};
  mote_memory memory{};
  options.kv_dtype = MOTE_KV_BF16;
  TEST_ASSERT_EQUAL_INT(MOTE_INVALID_ARGUMENT, mote_session_memory(model.get(), &options, &memory, &error));
  REQUIRE(std::strstr(error.text, "bf16 takes heads whose width is a multiple of 2") != nullptr);
  options.kv_dtype = MOTE_KV_I8;
  TEST_ASSERT_EQUAL_INT(MOTE_INVALID_ARGUMENT, mote_session_memory(model.get(), &options, &memory, &error));
  REQUIRE(std::strstr(error.text, "i8 takes heads whose width is a multiple of 4") != nullptr);
}

TEST("a context that would overflow is refused and the session stays as it was") {
  mote_session_options options = test::small_options(llama());
  options.context = 10;
  const test::OpenSession session(llama(), options);
  mote_error error{};
  const auto ids = test::some_ids(11, 100);
  TEST_ASSERT_EQUAL_INT(MOTE_CONTEXT_FULL,
                        mote_prefill(session.get(), 0, ids.data(), 11, MOTE_LOGITS_LAST, &error));
  TEST_ASSERT_EQUAL_UINT32(0, mote_session_length(session.get(), 0));
  TEST_ASSERT_EQUAL_INT(MOTE_OK, mote_prefill(session.get(), 0, ids.data(), 10, MOTE_LOGITS_LAST, &error));
  TEST_ASSERT_EQUAL_INT(MOTE_CONTEXT_FULL, mote_decode(session.get(), ids.data(), &error));
  TEST_ASSERT_EQUAL_UINT32(10, mote_session_length(session.get(), 0));
  TEST_ASSERT_NOT_NULL(mote_session_logits(session.get(), 0));
}

TEST("ids outside the vocabulary are refused", "[text]") {
  const test::OpenSession session(llama(), test::small_options(llama()));
  mote_error error{};
  for (const int32_t bad : {-1, 100, INT32_MAX, INT32_MIN}) {
    const int32_t ids[] = {5, bad};
    CAPTURE(bad);
    REQUIRE(mote_prefill(session.get(), 0, ids, 2, MOTE_LOGITS_LAST, &error) == MOTE_INVALID_ARGUMENT);
  }
  TEST_ASSERT_NOT_NULL(std::strstr(error.text, "token 1"));
  TEST_ASSERT_NULL(mote_session_logits(session.get(), 0));
}

TEST("empty calls and sequences that do not exist are refused") {
  const test::OpenSession session(llama(), test::small_options(llama()));
  const int32_t id = 1;
  mote_error error{};
  TEST_ASSERT_EQUAL_INT(MOTE_INVALID_ARGUMENT,
                        mote_prefill(session.get(), 0, &id, 0, MOTE_LOGITS_LAST, &error));
  TEST_ASSERT_EQUAL_INT(MOTE_INVALID_ARGUMENT,
                        mote_prefill(session.get(), 1, &id, 1, MOTE_LOGITS_LAST, &error));
  const int32_t none = -1;
  TEST_ASSERT_EQUAL_INT(MOTE_INVALID_ARGUMENT, mote_decode(session.get(), &none, &error));
  int32_t picked;
  TEST_ASSERT_EQUAL_INT(MOTE_WRONG_STATE, mote_sample(session.get(), 0, &picked, &error));
}

TEST("truncating goes back to an earlier state exactly") {
  const test::OpenSession session(llama(), test::small_options(llama()));
  const auto ids = test::some_ids(20, 100);
  const std::vector<int32_t> head(ids.begin(), ids.begin() + 12), tail(ids.begin() + 12, ids.end());
  test::prefill(session.get(), head, 100);
  const auto first = test::prefill(session.get(), tail, 100);
  TEST_ASSERT_EQUAL_INT(MOTE_OK, mote_session_truncate(session.get(), 0, 12, nullptr));
  TEST_ASSERT_TRUE(first == test::prefill(session.get(), tail, 100));
  TEST_ASSERT_EQUAL_INT(MOTE_INVALID_ARGUMENT, mote_session_truncate(session.get(), 0, 21, nullptr));
}

TEST("traces name every hidden state") {
  mote_session_options options = test::small_options(llama());
  options.logit_rows = options.chunk;
  std::map<std::string, uint32_t> rows;
  options.trace = [](void* user, const char* name, const float*, uint32_t count, uint32_t width, size_t) {
    REQUIRE(width == 32);
    (*static_cast<std::map<std::string, uint32_t>*>(user))[name] += count;
  };
  options.trace_user = &rows;
  const test::OpenSession session(llama(), options);
  const auto ids = test::some_ids(7, 100);
  TEST_ASSERT_EQUAL_INT(MOTE_OK, mote_prefill(session.get(), 0, ids.data(), 7, MOTE_LOGITS_ALL, nullptr));
  TEST_ASSERT_TRUE(
      (rows == std::map<std::string, uint32_t>{{"hidden.0", 7}, {"hidden.1", 7}, {"hidden.2", 7}}));
}
