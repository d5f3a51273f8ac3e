// SPDX-License-Identifier: Apache-2.0
//
// How the work of code grows with its input, without a clock. Sources that are compiled with
// -fsanitize-coverage=trace-pc call a counter in each of their basic blocks, so that no loop is left out; the
// bytes that they copy, compare and take from the heap are counted besides.
#pragma once

#include <cstdint>

#include "tests/support/unity_style.h"

namespace test {

/// Blocks that this thread ever ran, and a 16th of those bytes.
uint64_t work_done();

template <class F>
uint64_t work_of(const F& f) {
  const uint64_t before = work_done();
  f();
  return work_done() - before;
}

/// Whether the work of run(make(size)) for sizes n, 2n, 4n and 8n grows at most in proportion. What each
/// doubling adds is compared with what the one before added, so that work which every size takes hides
/// nothing: about twice as much where it is linear, four times where it is quadratic.
template <class Make, class Run>
void check_growth(uint64_t n, const Make& make, const Run& run) {
  run(make(n));  // tables that are made once
  uint64_t before = 0, added_before = 0;
  for (const uint64_t size : {n, 2 * n, 4 * n, 8 * n}) {
    const auto input = make(size);
    const uint64_t work = work_of([&] { run(input); });
    REQUIRE(work > 0);  // counted at all
    const uint64_t added = work > before ? work - before : 0;
    INFO(size << ": " << work << ", half of it: " << before << ", which was " << added_before << " more");
    if (size > 2 * n) REQUIRE(added <= added_before * 5 / 2);
    before = work;
    added_before = added;
  }
}

}  // namespace test
