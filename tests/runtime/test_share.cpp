// SPDX-License-Identifier: Apache-2.0
#include "runtime/share.h"

#include <thread>
#include <vector>

#include "tests/support/unity_style.h"

namespace {

using namespace mote;

Share share;

/// The lengths of the pieces that are taken until nothing is left, one after the other.
std::vector<uint32_t> pieces(Range units, uint32_t least) {
  std::vector<uint32_t> lengths;
  share.set(units);
  uint32_t next = units.begin;
  for (Range piece = share.take(least); piece.begin != piece.end; piece = share.take(least)) {
    TEST_ASSERT_EQUAL(next, piece.begin);
    lengths.push_back(piece.end - piece.begin);
    next = piece.end;
  }
  TEST_ASSERT_EQUAL(units.end, next);
  return lengths;
}

}  // namespace

TEST("a share is taken in halves, in order") {
  TEST_ASSERT_TRUE((pieces({5, 69}, 1) == std::vector<uint32_t>{32, 16, 8, 4, 2, 1, 1}));
}

TEST("a piece is no shorter than the least, and none is left that would be") {
  for (uint32_t units = 1; units < 200; ++units) {
    for (uint32_t least = 1; least < 20; ++least) {
      for (const uint32_t length : pieces({0, units}, least))
        TEST_ASSERT_TRUE(length >= least || length == units);
    }
  }
}

TEST("a share shorter than the least is taken at once") {
  TEST_ASSERT_TRUE((pieces({3, 5}, 8) == std::vector<uint32_t>{2}));
}

TEST("nothing is taken of an empty share, and nothing after the last piece") {
  TEST_ASSERT_TRUE(pieces({7, 7}, 1).empty());
  for (uint32_t times = 0; times < 3; ++times) {
    const Range piece = share.take(1);
    TEST_ASSERT_EQUAL(piece.begin, piece.end);
  }
}

TEST("threads that take of one share get each unit once") {
  constexpr uint32_t kUnits = 20000, kThreads = 4;
  share.set({0, kUnits});
  std::vector<uint8_t> times(kUnits);
  std::vector<std::thread> threads;
  for (uint32_t i = 0; i < kThreads; ++i) {
    threads.emplace_back([&times] {
      for (Range units = share.take(1); units.begin != units.end; units = share.take(1)) {
        for (uint32_t unit = units.begin; unit < units.end; ++unit) ++times[unit];
        std::this_thread::yield();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (uint32_t unit = 0; unit < kUnits; ++unit) TEST_ASSERT_EQUAL(1u, uint32_t{times[unit]});
}
