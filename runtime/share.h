// SPDX-License-Identifier: Apache-2.0
//
// How the threads of a fork share its units: each has an equal share and takes it piece by piece, and who is
// done takes pieces of the others'. Cores are seldom equally fast: some are small, some are lent to other
// programs for a while, some wait longer for memory. On a machine of two that others use, threads with fixed
// shares waited for each other 14 to 25 % of the time, and 2 to 8 % like this. No bit depends on who computes
// a unit: kernels give the same outputs whatever their range.
//
// Most units are rows, and a thread that has the same rows of every operation finds them in its own caches.
// Those of linear operations and attention are panels and heads, of all rows: half of what a thread of two
// then reads, the other wrote, and a line that another core has read is slow to be written again. So where
// rows are many, the threads have rows of their own there as well, and the panels or heads of those. That is
// 0 to 4 % faster where two cores have one L3, and 0 to 9 % where each has its own.
#pragma once

#include <stdint.h>

#include <atomic>

#include "kernels/ops.h"

namespace mote {

// Every thread reads all weights then, and unpacks those of 8 and 4 bits: with 64 rows each, that took 2 %
// more than it gave, with 128 it pays.
inline constexpr uint32_t kRowsApart = 64;
inline constexpr uint32_t kRowsApartInteger = 128;

/// What is left of one thread's share, in a cache line of its own.
class alignas(kAlignment) Share {
 public:
  /// Before the fork.
  void set(Range units) {
    begin_.store(units.begin, std::memory_order_relaxed);
    end_ = units.end;
  }

  /// Half of what is left, but at least `least` units (1 or more) or all; empty when nothing is. Halves are
  /// few calls, and the last ones, for which others may have to wait, are short.
  Range take(uint32_t least) {
    uint32_t begin = begin_.load(std::memory_order_relaxed), end;
    do {
      const uint32_t left = end_ - begin;
      if (left == 0) return {end_, end_};  // and leaves the line with who has it
      const uint32_t some = left / 2 > least ? left / 2 : least;
      end = left < some + least ? end_ : begin + some;
    } while (!replace(begin, end));
    return {begin, end};
  }

 private:
  /// begin_ becomes `end`, or `begin` what begin_ is meanwhile. Processors without compare-and-exchange
  /// (Cortex-M0) have one thread.
  bool replace(uint32_t& begin, uint32_t end) {
    if constexpr (std::atomic<uint32_t>::is_always_lock_free) {
      return begin_.compare_exchange_weak(begin, end, std::memory_order_relaxed);
    } else {
      begin_.store(end, std::memory_order_relaxed);
      return true;
    }
  }

  std::atomic<uint32_t> begin_;
  uint32_t end_;
};

}  // namespace mote
