// SPDX-License-Identifier: Apache-2.0
//
// What a file and its options can ask of an arena: sizes that fit no machine are refused.
#include "runtime/exec/saturating.h"
#include "tests/support/graph_file.h"
#include "tests/support/test_model.h"

using namespace mote::convert;

TEST("sums and products that do not fit 64 bits stay at the largest number") {
  using namespace mote;
  TEST_ASSERT_EQUAL_UINT64(UINT64_MAX, saturating_add(UINT64_MAX - 1, 2));
  TEST_ASSERT_EQUAL_UINT64(UINT64_MAX, saturating_add(UINT64_MAX - 1, 1));
  TEST_ASSERT_EQUAL_UINT64(7, saturating_add(3, 4));
  TEST_ASSERT_EQUAL_UINT64(UINT64_MAX, saturating_multiply(uint64_t{1} << 33, uint64_t{1} << 31));
  TEST_ASSERT_EQUAL_UINT64(uint64_t{1} << 63, saturating_multiply(uint64_t{1} << 32, uint64_t{1} << 31));
  TEST_ASSERT_EQUAL_UINT64(0, saturating_multiply(0, UINT64_MAX));
  TEST_ASSERT_EQUAL_UINT64(0, saturating_multiply(UINT64_MAX, UINT64_MAX, 0));
  TEST_ASSERT_EQUAL_UINT64(UINT64_MAX, saturating_align_up(UINT64_MAX - 1, 64));
  TEST_ASSERT_EQUAL_UINT64(128, saturating_align_up(65, 64));
}

TEST("caches whose bytes together exceed 64 bits are refused, whatever the options") {
  const test::AlignedBytes file = test::decoder_file(16, 1u << 24, [](Graph& graph, const View&) {
    graph.caches.assign(2048, {1u << 14, 1u << 10, 0});
    const View keys = test::add_value(graph, 1u << 24);
    for (uint32_t state = 0; state < 2048; ++state) graph.nodes.push_back(KvStoreNode{state, keys, keys});
  });
  TEST_ASSERT_LESS_THAN(400u << 10, file.size());
  const test::OpenModel model(file);
  mote_session_options options = mote_session_options_default(model.get());
  options.kv_dtype = MOTE_KV_F32;
  options.context = 1u << 24;
  for (const uint32_t batch : {2u, 3u, 4u, 64u}) {
    CAPTURE(batch);
    options.batch = options.chunk = options.logit_rows = batch;
    TEST_ASSERT_EQUAL_UINT64(0, mote_session_bytes(model.get(), &options));
    mote_memory memory{};
    mote_error error{};
    TEST_ASSERT_EQUAL_INT(MOTE_INVALID_ARGUMENT, mote_session_memory(model.get(), &options, &memory, &error));
    TEST_ASSERT_NOT_NULL(std::strstr(error.text, "memory"));
    const test::AlignedBytes arena(1u << 20);
    mote_session* session = nullptr;
    TEST_ASSERT_EQUAL_INT(MOTE_INVALID_ARGUMENT, mote_session_init(model.get(), &options, arena.data(),
                                                                   arena.size(), &session, &error));
  }
}

TEST("attention with more work units than 32 bits count is refused") {
  constexpr uint32_t kHeads = 1u << 24;
  const test::AlignedBytes file = test::decoder_file(16, 4096, [](Graph& graph, const View&) {
    const auto value = static_cast<uint32_t>(graph.values.size());
    graph.values.push_back({kHeads, mote::DType::f32, Unit::token});
    graph.caches = {{kHeads, 1, 0}};
    const View q{value, 0, kHeads};
    graph.nodes.push_back(KvStoreNode{0, q, q});
    graph.nodes.push_back(AttentionNode{0, kHeads, 1.0f, q, q});
  });
  const test::OpenModel model(file);
  mote_session_options options = mote_session_options_default(model.get());
  options.kv_dtype = MOTE_KV_F16;
  options.context = 16;
  options.chunk = 4096;
  mote_memory memory{};
  mote_error error{};
  TEST_ASSERT_EQUAL_INT(MOTE_INVALID_ARGUMENT, mote_session_memory(model.get(), &options, &memory, &error));
  TEST_ASSERT_NOT_NULL(std::strstr(error.text, "KV heads"));
  options.chunk = 64;
  const mote_status fewer = mote_session_memory(model.get(), &options, &memory, &error);
  if (sizeof(void*) == 8) {
    TEST_ASSERT_EQUAL_INT(MOTE_OK, fewer);
  } else {  // too many bytes, not too many units
    TEST_ASSERT_EQUAL_INT(MOTE_INVALID_ARGUMENT, fewer);
    TEST_ASSERT_NULL(std::strstr(error.text, "KV heads"));
  }
}
