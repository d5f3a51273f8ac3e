// SPDX-License-Identifier: Apache-2.0
#include "runtime/exec/work_stealing.h"

#include <thread>
#include <vector>

#include "tests/support/unity_style.h"

namespace {

using namespace mote;

StealableUnits units_left;

/// The lengths of the pieces that are taken until nothing is left, one after the other.
std::vector<uint32_t> pieces(uint32_t units, uint32_t least) {
  std::vector<uint32_t> lengths;
  units_left.set(3, units);
  uint32_t left = units;
  for (StealableUnits::Piece piece = units_left.take(least); piece.count != 0; piece = units_left.take(least)) {
    TEST_ASSERT_EQUAL(3u, piece.step);
    TEST_ASSERT_EQUAL(left, piece.left);
    lengths.push_back(piece.count);
    left -= piece.count;
  }
  TEST_ASSERT_EQUAL(0u, left);
  return lengths;
}

}  // namespace

TEST("a share is taken in halves, in order") {
  TEST_ASSERT_TRUE((pieces(64, 1) == std::vector<uint32_t>{32, 16, 8, 4, 2, 1, 1}));
}

TEST("a piece is no shorter than the least, and none is left that would be") {
  for (uint32_t units = 1; units < 200; ++units) {
    for (uint32_t least = 1; least < 20; ++least) {
      for (const uint32_t length : pieces(units, least)) TEST_ASSERT_TRUE(length >= least || length == units);
    }
  }
}

TEST("a share shorter than the least is taken at once") {
  TEST_ASSERT_TRUE((pieces(2, 8) == std::vector<uint32_t>{2}));
}

TEST("nothing is taken of an empty share, and nothing after the last piece") {
  TEST_ASSERT_TRUE(pieces(0, 1).empty());
  for (uint32_t times = 0; times < 3; ++times) TEST_ASSERT_EQUAL(0u, units_left.take(1).count);
}

TEST("a share holds the largest number of units and the last of the steps") {
  units_left.set(StealableUnits::kMostSteps - 1, StealableUnits::kMostUnits);
  const StealableUnits::Piece piece = units_left.take(StealableUnits::kMostUnits);
  TEST_ASSERT_EQUAL(StealableUnits::kMostSteps - 1, piece.step);
  TEST_ASSERT_EQUAL(StealableUnits::kMostUnits, piece.count);
}

TEST("who completes the last unit of a step knows it, once") {
  units_left.set(0, 10);
  TEST_ASSERT_FALSE(units_left.complete(4, 10));
  TEST_ASSERT_FALSE(units_left.complete(5, 10));
  TEST_ASSERT_TRUE(units_left.complete(1, 10));
  units_left.set(1, 2);
  TEST_ASSERT_TRUE(units_left.complete(2, 2));
}

TEST("threads that take of one share get each unit of each step once, and no step before all of the last") {
  constexpr uint32_t kUnits = 300, kSteps = 60, kThreads = 4;
  units_left.set(0, kUnits);
  std::vector<uint8_t> times(kUnits * kSteps);
  std::atomic<uint32_t> done{0}, early{0};
  std::vector<std::thread> threads;
  for (uint32_t i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      while (done.load() < kUnits * kSteps) {
        const StealableUnits::Piece piece = units_left.take(1);
        if (piece.count == 0) std::this_thread::yield();
        for (uint32_t unit = kUnits - piece.left; unit < kUnits - piece.left + piece.count; ++unit) {
          ++times[piece.step * kUnits + unit];
        }
        if (done.fetch_add(piece.count) < piece.step * kUnits) ++early;
        if (piece.count != 0 && units_left.complete(piece.count, kUnits) && piece.step + 1 < kSteps) {
          units_left.set(piece.step + 1, kUnits);
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  TEST_ASSERT_EQUAL(0u, early.load());
  for (const uint8_t unit : times) TEST_ASSERT_EQUAL(1u, uint32_t{unit});
}
