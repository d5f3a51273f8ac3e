// SPDX-License-Identifier: Apache-2.0
//
// Regions, sessions and memory of the XNNPACK backend, over whole models.
#include <xnnpack.h>

#include <cmath>
#include <thread>

#include "tests/support/count_allocations.h"
#include "tests/support/linear_model.h"
#include "tests/support/xnnpack_region.h"

using test::calls;
using test::counting;

namespace {

/// All outputs for two sequences; none if it fails. Asserts nothing: Catch2 is for one thread.
std::vector<float> try_encode(mote_session* session, uint32_t width, const std::vector<int32_t>& ids) {
  const uint32_t lengths[] = {13, 7};
  const mote_batch batch{ids.data(), nullptr, lengths, 2, nullptr, 0, nullptr, {}, {}, {}};
  std::vector<float> all;
  if (mote_encode(session, &batch, nullptr) != MOTE_OK) return all;
  for (uint32_t row = 0; const float* out = mote_session_output(session, row); ++row) {
    all.insert(all.end(), out, out + width);
  }
  return all;
}

uint32_t output_width(const test::OpenModel& model) {
  mote_output_info output;
  mote_model_get_output(model.get(), &output);
  return output.width;
}

std::vector<float> encode(const test::OpenModel& model, const mote_session_options& options, uint32_t seed) {
  const test::OpenSession session(model, options);
  const std::vector<float> all =
      try_encode(session.get(), output_width(model), test::some_ids(20, model.info().vocab, seed));
  REQUIRE(!all.empty());
  return all;
}

mote_session_options backend_options(const test::OpenModel& model, mote_posix_pool* pool = nullptr) {
  mote_session_options options = test::small_options(model);
  mote_output_info output;
  mote_model_get_output(model.get(), &output);
  if (output.kind != MOTE_OUTPUT_NEXT_TOKEN) options.batch = 2;
  options.logit_rows = options.chunk = std::min(options.context, 20u);
  options.platform = mote_posix_pool_platform(pool);
  return options;
}

float largest_difference(const std::vector<float>& a, const std::vector<float>& b) {
  REQUIRE(a.size() == b.size());
  float largest = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    const float difference = std::fabs(a[i] - b[i]);
    if (!(difference <= largest)) largest = difference;
  }
  return largest;
}

}  // namespace

TEST("xnnpack: golden encoders at f32 stay within their tolerance, on 1 to 3 threads") {
  for (const char* name : {"bert", "bert_classifier", "roberta_masked_lm", "albert_qa", "mpnet_sentence"}) {
    const test::OpenModel model(test::golden_file(name, "f32"));
    const auto tolerance = static_cast<float>(test::golden_tolerance(name));
    for (const uint32_t threads : {1u, 2u, 3u}) {
      CAPTURE(name, threads);
      mote_posix_pool* pool = mote_posix_pool_create(threads);
      const test::XnnpackRegion backend(model, threads);
      mote_session_options options = backend_options(model, pool);
      const std::vector<float> expected = encode(model, options, 1);
      options.backend = backend.get();
      const std::vector<float> actual = encode(model, options, 1);
      TEST_ASSERT_GREATER_THAN(0u, actual.size());
      TEST_ASSERT_LESS_OR_EQUAL(tolerance, largest_difference(expected, actual));
      TEST_ASSERT_TRUE(expected != actual);  // else XNNPACK computed nothing
      mote_posix_pool_destroy(pool);
    }
  }
}

TEST("xnnpack: decoders at f32 pass the self test in their file") {
  for (const char* name : {"llama", "gpt2"}) {
    const test::OpenModel model(test::golden_file(name, "f32"));
    const test::XnnpackRegion backend(model, 2);
    mote_session_options options = backend_options(model);
    options.backend = backend.get();
    const test::OpenSession session(model, options);
    mote_self_test result;
    mote_error error{};
    CAPTURE(name, error.text);
    TEST_ASSERT_EQUAL_INT(MOTE_OK, mote_session_self_test(session.get(), &result, &error));
    TEST_ASSERT_EQUAL_UINT32(result.ids, result.equal_ids);
  }
}

TEST("xnnpack: a model without f32 weights gives a backend that does nothing") {
  const test::OpenModel model(test::golden_file("bert", "q8g32"));
  const test::XnnpackRegion backend(model, 2);
  TEST_ASSERT_LESS_THAN(size_t{4096}, backend.bytes());
  mote_session_options options = backend_options(model);
  const std::vector<float> expected = encode(model, options, 1);
  options.backend = backend.get();
  TEST_ASSERT_TRUE(encode(model, options, 1) == expected);
}

TEST("xnnpack: a region that is too small or not aligned is refused") {
  const test::OpenModel model(test::golden_file("bert", "f32"));
  const size_t bytes = mote_xnnpack_bytes(model.get(), 2, nullptr);
  test::AlignedBytes region(bytes + 64);
  const mote_backend* backend = nullptr;
  mote_error error{};
  TEST_ASSERT_EQUAL_INT(MOTE_TOO_SMALL,
                        mote_xnnpack_create(model.get(), 2, region.data(), bytes - 1, &backend, &error));
  TEST_ASSERT_EQUAL_STRING(
      "the region has " + std::to_string(bytes - 1) + " bytes, the operators take " + std::to_string(bytes),
      error.text);
  TEST_ASSERT_EQUAL_INT(MOTE_NOT_ALIGNED,
                        mote_xnnpack_create(model.get(), 2, region.data() + 16, bytes, &backend, &error));
  TEST_ASSERT_EQUAL_INT(MOTE_INVALID_ARGUMENT,
                        mote_xnnpack_create(model.get(), 0, region.data(), bytes, &backend, &error));
  TEST_ASSERT_EQUAL_INT(MOTE_INVALID_ARGUMENT,
                        mote_xnnpack_create(model.get(), 2, nullptr, bytes, &backend, &error));
  TEST_ASSERT_EQUAL_SIZE_T(0, mote_xnnpack_bytes(model.get(), MOTE_BACKEND_MOST_SLICES + 1, &error));
  TEST_ASSERT_NULL(backend);
}

TEST("xnnpack: sessions in several threads share a model's operators") {
  const test::OpenModel model(test::golden_file("bert", "f32"));
  const test::XnnpackRegion backend(model, 2);
  mote_session_options options = backend_options(model);
  options.backend = backend.get();
  constexpr uint32_t kThreads = 3, kRounds = 200;
  const uint32_t width = output_width(model);
  std::vector<std::unique_ptr<test::OpenSession>> sessions;
  std::vector<std::vector<int32_t>> ids;
  std::vector<std::vector<float>> expected;
  for (uint32_t i = 0; i < kThreads; ++i) {
    sessions.push_back(std::make_unique<test::OpenSession>(model, options));
    ids.push_back(test::some_ids(20, model.info().vocab, i + 1));
    expected.push_back(try_encode(sessions[i]->get(), width, ids[i]));
    TEST_ASSERT_FALSE(expected[i].empty());
  }
  std::atomic<uint32_t> different{0};
  std::vector<std::thread> threads;
  for (uint32_t i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      for (uint32_t round = 0; round < kRounds; ++round) {
        different += try_encode(sessions[i]->get(), width, ids[i]) != expected[i];
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  TEST_ASSERT_EQUAL_UINT32(0, different.load());
}

TEST("xnnpack: making operators and running them allocates nothing") {
#ifdef MOTE_SANITIZED
  SUCCEED("the sanitizer owns malloc; counted in the plain build");
#else
  const test::OpenModel model(test::golden_file("bert", "f32"));
  mote_posix_pool* pool = mote_posix_pool_create(2);
  mote_session_options options = backend_options(model, pool);
  options.batch = 1;
  test::AlignedBytes region(size_t{1} << 20), arena(size_t{1} << 22);
  const std::vector<int32_t> ids = test::some_ids(20, model.info().vocab);
  const uint32_t length = 20;
  const mote_batch batch{ids.data(), nullptr, &length, 1, nullptr, 0, nullptr, {}, {}, {}};
  mote_error error{};
  mote_status status = mote_xnnpack_initialize(&error);

  calls = 0;
  counting = true;
  const mote_backend* backend = nullptr;
  mote_session* session = nullptr;
  const size_t bytes = mote_xnnpack_bytes(model.get(), 2, &error);
  if (status == MOTE_OK) {
    status = mote_xnnpack_create(model.get(), 2, region.data(), region.size(), &backend, &error);
  }
  options.backend = backend;
  const size_t arena_bytes = mote_session_bytes(model.get(), &options);
  if (status == MOTE_OK) {
    status = mote_session_init(model.get(), &options, arena.data(), arena.size(), &session, &error);
  }
  for (int i = 0; i < 3 && status == MOTE_OK; ++i) status = mote_encode(session, &batch, &error);
  const uint32_t found = calls;
  // The counting sees into the library: an operator of the application's own is in malloc's memory.
  const float weight = 1;
  xnn_operator_t op = nullptr;
  const xnn_status created =
      xnn_create_fully_connected_nc_f32(1, 1, 1, 1, &weight, nullptr, -INFINITY, INFINITY, 0, &op);
  const uint32_t seen = calls - found;
  counting = false;

  INFO(error.text);
  TEST_ASSERT_EQUAL_INT(MOTE_OK, status);
  TEST_ASSERT_TRUE(bytes <= region.size() && arena_bytes <= arena.size());
  TEST_ASSERT_EQUAL_UINT32(0, found);
  TEST_ASSERT_TRUE(created == xnn_status_success);
  TEST_ASSERT_GREATER_OR_EQUAL(2u, seen);
  TEST_ASSERT_TRUE(xnn_delete_operator(op) == xnn_status_success);
  mote_posix_pool_destroy(pool);
#endif
}
