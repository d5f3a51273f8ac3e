// SPDX-License-Identifier: Apache-2.0
#include "runtime/exec/kv_pages.h"

#include <algorithm>

#include "tests/support/graph_file.h"
#include "tests/support/test_model.h"

using namespace mote::convert;

namespace {

mote_session_options options_of(uint32_t context, uint32_t chunk) {
  mote_session_options options{};
  options.context = context;
  options.chunk = chunk;
  options.batch = 3;
  return options;
}

/// Calls f(cache) with a cache of the schema that has this window.
template <class F>
void with_cache(uint32_t window, bool bidirectional, F f) {
  flatbuffers::FlatBufferBuilder builder;
  builder.Finish(mote::file::CreateKvCache(builder, 2, 8, window, bidirectional));
  f(*flatbuffers::GetRoot<mote::file::KvCache>(builder.GetBufferPointer()));
}

uint64_t session_bytes(const std::vector<uint32_t>& windows, uint32_t context) {
  const test::AlignedBytes file = test::decoder_file(16, 4096, [&](Graph& graph, const View&) {
    for (const uint32_t window : windows) graph.caches.push_back({1, 16, window});
  });
  const test::OpenModel model(file);
  mote_session_options options = mote_session_options_default(model.get());
  options.context = context;
  mote_memory memory{};
  REQUIRE(mote_session_memory(model.get(), &options, &memory, nullptr) == MOTE_OK);
  return memory.session;
}

}  // namespace

TEST("a page has 128 positions, or those of a shorter context", "[kv_pages]") {
  constexpr uint32_t kExpected[][3] = {{1, 1, 16},    {16, 1, 16},   {17, 1, 32},
                                       {112, 1, 112}, {113, 1, 128}, {128, 1, 128},
                                       {129, 2, 128}, {256, 2, 128}, {257, 3, 128}};
  with_cache(0, false, [&](const mote::file::KvCache& cache) {
    for (const auto& [context, tiles, page_positions] : kExpected) {
      const mote::KvPages pages = mote::kv_pages(options_of(context, 64), cache);
      CAPTURE(context);
      TEST_ASSERT_EQUAL_UINT32(tiles, pages.tiles);
      TEST_ASSERT_EQUAL_UINT32(tiles, pages.held);
      TEST_ASSERT_EQUAL_UINT32(page_positions, pages.page_positions);
    }
  });
  with_cache(0, true, [&](const mote::file::KvCache& cache) {  // an encoder's sequence is within a chunk
    TEST_ASSERT_EQUAL_UINT32(2, mote::kv_pages(options_of(4096, 200), cache).tiles);
    TEST_ASSERT_EQUAL_UINT32(48, mote::kv_pages(options_of(40, 200), cache).page_positions);
  });
}

TEST("tiles that the rows of a chunk see have pages of their own", "[kv_pages]") {
  constexpr uint32_t kContext = 1500;
  for (const uint32_t window : {1u, 2u, 127u, 128u, 129u, 300u, 1400u, 4000u}) {
    for (const uint32_t chunk : {1u, 2u, 64u, 127u, 128u, 129u, 400u}) {
      CAPTURE(window, chunk);
      with_cache(window, false, [&](const mote::file::KvCache& cache) {
        const mote::KvPages pages = mote::kv_pages(options_of(kContext, chunk), cache);
        TEST_ASSERT_TRUE(pages.held <= pages.tiles);
        for (uint32_t length = 0; length < kContext; ++length) {
          const uint32_t first = length + 1 > window ? length + 1 - window : 0;
          const uint32_t last = std::min(length + chunk, kContext) - 1;
          REQUIRE(last / mote::kAttentionTile - first / mote::kAttentionTile < pages.held);
        }
      });
    }
  }
}

TEST("sequences share no page", "[kv_pages]") {
  for (const uint32_t window : {0u, 200u}) {
    with_cache(window, false, [&](const mote::file::KvCache& cache) {
      const mote::KvPages pages = mote::kv_pages(options_of(1500, 64), cache);
      for (uint32_t sequence = 0; sequence < 3; ++sequence) {
        for (uint32_t tile = 0; tile < pages.tiles; ++tile)
          TEST_ASSERT_EQUAL_UINT32(sequence, pages.page_of(sequence, tile) / pages.held);
      }
    });
  }
}

TEST("a sequence is sure of its window, and of all tokens until a page may be written anew", "[kv_pages]") {
  with_cache(58, false, [](const mote::file::KvCache& cache) {
    const mote_session_options options = options_of(600, 64);  // two pages
    TEST_ASSERT_EQUAL_UINT32(2, mote::kv_pages(options, cache).held);
    TEST_ASSERT_EQUAL_UINT32(0, mote::first_held(options, cache, 192));
    TEST_ASSERT_EQUAL_UINT32(193 + 1 - 58, mote::first_held(options, cache, 193));
    TEST_ASSERT_EQUAL_UINT32(0, mote::first_held(options_of(130, 64), cache, 130));   // a page for each tile,
    TEST_ASSERT_EQUAL_UINT32(0, mote::first_held(options_of(600, 600), cache, 600));  // or more
  });
}

TEST("layers with one window share a table of pages", "[kv_pages]") {
  const std::vector<uint32_t> alternating = {0, 128, 0, 128, 0, 128};
  const uint64_t more = session_bytes({0, 128, 256}, 4096) - session_bytes({0, 128}, 4096);
  TEST_ASSERT_TRUE(more >= 4096 / mote::kAttentionTile * sizeof(uint32_t));
  const uint64_t views = 4 * sizeof(mote::KvCacheView) + MOTE_ALIGNMENT;  // of four layers more
  TEST_ASSERT_TRUE(session_bytes(alternating, 4096) <= session_bytes({0, 128}, 4096) + views);
}
