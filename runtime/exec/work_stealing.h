// SPDX-License-Identifier: Apache-2.0
//
// Work stealing. Each thread of a fork starts with an equal share of the units and takes it piece by piece; a
// thread that is done takes pieces of the others' shares. Cores are seldom equally fast: some are small, some
// run other programs too, some wait longer for memory. Results do not depend on who computes a unit: kernels
// give the same outputs whatever their range.
//
// In lanes (lane.h) a share passes from one chain of steps to the next without a barrier: the thread that
// completes the last unit of a chain, owner or not, sets the units of the next one.
#pragma once

#include <stdint.h>

#include <atomic>

#include "kernels/ops.h"

namespace mote {

/// Holds the units left of one thread's share, in a cache line of its own.
class alignas(kAlignment) StealableUnits {
 public:
  // A step's number and the units left of it are one word, which each processor with threads can replace at
  // once: a piece that was taken is of the step that it was taken for.
  static constexpr uint32_t kUnitBits = 24;
  static constexpr uint32_t kMostUnits = (1u << kUnitBits) - 1;
  static constexpr uint32_t kMostSteps = 1u << (32 - kUnitBits);

  struct Piece {
    uint32_t step;
    uint32_t count;  // units; 0 where none is left
    uint32_t left;   // of the step, this piece included: its first unit is as far from the end
  };

  /// Begins a step with `units`, none of them done.
  void set(uint32_t step, uint32_t units) {
    done_.store(0, std::memory_order_relaxed);
    word_.store(step << kUnitBits | units, std::memory_order_release);
  }

  /// Takes half of what is left, but at least `least` units (1 or more) or all. Halving takes few calls, and
  /// the last pieces, which others may have to wait for, are short.
  Piece take(uint32_t least) {
    uint32_t word = word_.load(std::memory_order_acquire);
    for (;;) {
      const uint32_t left = word & kMostUnits;
      if (left == 0) return {word >> kUnitBits, 0, 0};  // and leaves the line with who has it
      const uint32_t some = left / 2 > least ? left / 2 : least;
      const uint32_t count = left < some + least ? left : some;
      if (replace(word, word - count)) return {word >> kUnitBits, count, left};
    }
  }

  /// Counts `units` more of `all` as done. Returns true to the thread that did the last of them.
  bool complete(uint32_t units, uint32_t all) {
    if constexpr (std::atomic<uint32_t>::is_always_lock_free) {
      return done_.fetch_add(units, std::memory_order_acq_rel) + units == all;
    } else {
      done_.store(done_.load() + units);
      return done_.load() == all;
    }
  }

 private:
  /// Sets word_ to `next` if it is still `word`, else `word` to what word_ is meanwhile. Processors without
  /// compare-and-exchange (Cortex-M0) have one thread.
  bool replace(uint32_t& word, uint32_t next) {
    if constexpr (std::atomic<uint32_t>::is_always_lock_free) {
      return word_.compare_exchange_weak(word, next, std::memory_order_acquire);
    } else {
      word_.store(next);
      return true;
    }
  }

  std::atomic<uint32_t> word_;
  std::atomic<uint32_t> done_;
};

}  // namespace mote
