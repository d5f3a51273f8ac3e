// SPDX-License-Identifier: Apache-2.0
//
// How the cost of work grows with its size, for tests of algorithms. It is measured in this thread's CPU
// time, which other programs on the machine hardly change, and as a ratio, which the machine's speed does
// not.
#pragma once

#include <time.h>

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace test {

inline double cpu_ms() {
  timespec now = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

/// The cost of work(2 n) over that of work(n), the least of several runs of each: about 2 where it is linear
/// or n log n, about 4 where it is quadratic.
template <class Work>
double growth(size_t n, Work&& work) {
  constexpr int kRuns = 7;
  double once = INFINITY, twice = INFINITY;
  for (int run = 0; run < kRuns; ++run) {
    const double begin = cpu_ms();
    work(n);
    const double middle = cpu_ms();
    work(2 * n);
    once = std::min(once, middle - begin);
    twice = std::min(twice, cpu_ms() - middle);
  }
  return twice / once;
}

constexpr double kMostGrowth = 3.0;  // halfway from n log n to quadratic

}  // namespace test
