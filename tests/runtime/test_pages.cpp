// SPDX-License-Identifier: Apache-2.0
#include "runtime/exec/pages.h"

#include <vector>

#include "runtime/exec/kv_snapshot.h"
#include "tests/support/unity_style.h"

using namespace mote;

namespace {

constexpr uint32_t kBatch = 4;

/// A pool with memory of its own.
class Pool {
 public:
  Pool(uint32_t window, uint32_t context, uint32_t pages)
      : tiles_(pages_for(context, page_positions(context))),
        table_(kBatch * tiles_),
        next_(kBatch * tiles_),
        holders_(pages),
        free_(pages),
        used_(pages),
        numbers_(pages) {
    pool = {window,        page_positions(context), tiles_,       pages, false,
            table_.data(), holders_.data(),         free_.data(), 0,     next_.data(),
            used_.data(),  numbers_.data()};
    clear_pages(&pool, kBatch);
  }

  /// The pages of a sequence of `length` tokens.
  std::vector<uint32_t> pages(uint32_t sequence, uint32_t length) const {
    const uint32_t* all = pool.pages_of(sequence);
    return {all, all + pages_for(length, pool.page_positions)};
  }
  bool append(uint32_t sequence, uint32_t length, uint32_t count) {
    return append_pages(&pool, sequence, length, count, &copy);
  }

  PagePool pool;
  PageCopy copy{};

 private:
  uint32_t tiles_;
  std::vector<uint32_t> table_, next_, holders_, free_, used_, numbers_;
};

}  // namespace

TEST("a context below a tile is one page, rounded up to 16 positions", "[pages]") {
  TEST_ASSERT_EQUAL_UINT32(16, page_positions(1));
  TEST_ASSERT_EQUAL_UINT32(96, page_positions(96));
  TEST_ASSERT_EQUAL_UINT32(112, page_positions(97));
  TEST_ASSERT_EQUAL_UINT32(128, page_positions(4096));
  TEST_ASSERT_EQUAL_UINT32(1, pages_for(96, 96));
  TEST_ASSERT_EQUAL_UINT32(2, pages_for(129, 128));
}

TEST("a sequence takes a page when its tokens reach it, and gives it back when truncated", "[pages]") {
  Pool of(0, 1024, 8);
  TEST_ASSERT_FALSE(of.append(1, 0, 128));
  TEST_ASSERT_EQUAL_UINT32(7, of.pool.free_count);
  TEST_ASSERT_FALSE(of.append(1, 128, 1));
  TEST_ASSERT_EQUAL_UINT32(6, of.pool.free_count);
  TEST_ASSERT_FALSE(of.append(1, 129, 127));
  TEST_ASSERT_EQUAL_UINT32(6, of.pool.free_count);
  TEST_ASSERT_EQUAL_UINT32(2, pages_missing(of.pool, 1, 256, 129, 64));
  truncate_pages(&of.pool, 1, 128);
  TEST_ASSERT_EQUAL_UINT32(7, of.pool.free_count);
  truncate_pages(&of.pool, 1, 0);
  TEST_ASSERT_EQUAL_UINT32(8, of.pool.free_count);
  TEST_ASSERT_TRUE(of.pool.pages_of(1)[0] == kNoPage);
}

TEST("a fork holds the same pages, and the first to append copies the last one", "[pages]") {
  Pool of(0, 1024, 8);
  of.append(0, 0, 200);
  share_pages(&of.pool, 0, 3);
  TEST_ASSERT_EQUAL_UINT32(6, of.pool.free_count);
  TEST_ASSERT_TRUE(of.pages(0, 200) == of.pages(3, 200));

  TEST_ASSERT_EQUAL_UINT32(1, pages_missing(of.pool, 3, 200, 1, 64));
  TEST_ASSERT_TRUE(of.append(3, 200, 1));
  TEST_ASSERT_EQUAL_UINT32(of.pages(0, 200)[1], of.copy.from);
  TEST_ASSERT_EQUAL_UINT32(of.pages(3, 200)[1], of.copy.to);
  TEST_ASSERT_EQUAL_UINT32(of.pages(0, 200)[0], of.pages(3, 200)[0]);
  TEST_ASSERT_FALSE(of.append(0, 200, 1));  // now alone
  TEST_ASSERT_EQUAL_UINT32(5, of.pool.free_count);
}

TEST("a fork at the end of a page copies nothing", "[pages]") {
  Pool of(0, 1024, 8);
  of.append(0, 0, 256);
  share_pages(&of.pool, 0, 1);
  TEST_ASSERT_EQUAL_UINT32(1, pages_missing(of.pool, 1, 256, 1, 64));
  TEST_ASSERT_FALSE(of.append(1, 256, 1));
  TEST_ASSERT_TRUE(of.pages(0, 256) == of.pages(1, 256));
}

TEST("a page is free when its last holder drops it", "[pages]") {
  Pool of(0, 1024, 8);
  of.append(0, 0, 128);
  share_pages(&of.pool, 0, 1);
  share_pages(&of.pool, 1, 2);
  truncate_pages(&of.pool, 0, 0);
  truncate_pages(&of.pool, 2, 0);
  TEST_ASSERT_EQUAL_UINT32(7, of.pool.free_count);
  share_pages(&of.pool, 3, 1);  // 3 is empty
  TEST_ASSERT_EQUAL_UINT32(8, of.pool.free_count);
}

TEST("a window drops what is behind it and what may be rolled back", "[pages]") {
  constexpr uint32_t kWindow = 200, kContext = 4096, kChunk = 64;
  Pool of(kWindow, kContext, most_pages_of_sequence(kWindow, kChunk, kContext));
  for (uint32_t length = 0; length < kContext; length += kChunk) {
    TEST_ASSERT_TRUE(pages_missing(of.pool, 0, length, kChunk, kChunk) <= of.pool.free_count);
    of.append(0, length, kChunk);
    slide_pages(&of.pool, 0, length + kChunk);
    const uint32_t held = first_held(of.pool, 0, length + kChunk),
                   seen = first_seen(of.pool, length + kChunk);
    TEST_ASSERT_TRUE(held + kRollback <= seen || held == 0);
    TEST_ASSERT_TRUE(held + kRollback + kAttentionTile > seen);
    const uint32_t back = length + kChunk < kRollback ? length + kChunk : kRollback;
    TEST_ASSERT_TRUE(held <= first_seen(of.pool, length + kChunk - back));
  }
}

TEST("a sequence in a window never holds more pages than its share, whatever the steps", "[pages]") {
  for (const uint32_t window : {1u, 16u, 100u, 128u, 129u, 1000u}) {
    for (const uint32_t chunk : {1u, 3u, 64u, 300u}) {
      const uint32_t most = most_pages_of_sequence(window, chunk, 8192);
      Pool of(window, 8192, most);
      uint32_t length = 0;
      for (uint32_t turn = 0; turn < 200 && length + chunk <= 8192; ++turn) {
        const uint32_t count = 1 + turn * 7 % chunk;
        TEST_ASSERT_TRUE(pages_missing(of.pool, 0, length, count, chunk) <= of.pool.free_count);
        of.append(0, length, count);
        length += count;
        slide_pages(&of.pool, 0, length);
        const uint32_t back = turn % kRollback;
        if (turn % 13 != 12 || back >= length) continue;
        if (first_held(of.pool, 0, length) > first_seen(of.pool, length - back)) continue;
        length -= back;
        truncate_pages(&of.pool, 0, length);
      }
    }
  }
}

TEST("pages_missing of a long prompt in a window counts what is held at once", "[pages]") {
  Pool of(256, 8192, most_pages_of_sequence(256, 64, 8192));
  TEST_ASSERT_EQUAL_UINT32(of.pool.pages, pages_missing(of.pool, 0, 0, 8000, 64));
  of.append(0, 0, 64);
  TEST_ASSERT_EQUAL_UINT32(of.pool.pages - 1, pages_missing(of.pool, 0, 64, 8000 - 64, 64));
}

TEST("sequences are reordered at once, as beams are", "[pages]") {
  Pool of(0, 1024, 16);
  for (uint32_t s = 0; s < kBatch; ++s) of.append(s, 0, 200);
  const auto first = of.pages(1, 200), second = of.pages(3, 200);
  const uint32_t from[kBatch] = {1, 1, 3, 0};
  const auto third = of.pages(0, 200);
  reorder_pages(&of.pool, kBatch, from);
  TEST_ASSERT_TRUE(of.pages(0, 200) == first);
  TEST_ASSERT_TRUE(of.pages(1, 200) == first);
  TEST_ASSERT_TRUE(of.pages(2, 200) == second);
  TEST_ASSERT_TRUE(of.pages(3, 200) == third);
  TEST_ASSERT_EQUAL_UINT32(16 - 3 * 2, of.pool.free_count);  // nobody holds those of sequence 2
}

TEST("a saved table has the pages that a window needs, and none that it would have dropped", "[pages]") {
  const Pool of(200, 4096, 16);
  const uint32_t length = 1000;  // eight tiles; the next token sees positions 801 and on
  const auto sound = [&](uint32_t first) {
    std::vector<uint32_t> table(8, kNoPage);
    for (uint32_t tile = first; tile < 8; ++tile) table[tile] = tile - first;
    uint32_t count;
    return check_numbers(of.pool, &length, 1, reinterpret_cast<const uint8_t*>(table.data()), of.pool.pages,
                         &count);
  };
  for (uint32_t first = 0; first <= 8; ++first) {
    CAPTURE(first);
    TEST_ASSERT_EQUAL(first == 5 || first == 6, sound(first));
  }
}
