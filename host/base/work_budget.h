// SPDX-License-Identifier: Apache-2.0
//
// The budget that reading an input may cost. A reader's results have limits of their own (instructions, keys,
// pieces); what is done and held on the way is charged as it is spent, against a budget in proportion to the
// input's bytes. Readers call each other through many hands, so the budget in force belongs to the thread.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>

#include "host/base/error.h"

namespace mote::convert {

class WorkExceeded : public Error {
 public:
  using Error::Error;
};

/// A step is what a few nanoseconds do, or a byte that is held.
class WorkBudget {
 public:
  /// Is in force until it is destroyed, when the one before it is again. `what` names the input in the
  /// message. An input of `bytes` bytes may take `free_steps` and so many more for each of its bytes.
  WorkBudget(std::string what, uint64_t bytes, uint64_t steps_per_byte = 128, uint64_t free_steps = 1u << 26);
  ~WorkBudget();
  WorkBudget(const WorkBudget&) = delete;
  WorkBudget& operator=(const WorkBudget&) = delete;

  /// Throws WorkExceeded, naming the limit, where it is passed.
  void charge(uint64_t steps);
  uint64_t spent() const { return spent_; }
  uint64_t limit() const { return limit_; }

 private:
  std::string what_;
  uint64_t bytes_, limit_, spent_ = 0;
  WorkBudget* before_;
};

/// Charges the budget in force; without one, work is counted only.
void charge_work(uint64_t steps);
inline void charge_bytes(uint64_t bytes) { charge_work(bytes); }
/// Charges a table of floats before it is made, whose shape an input's numbers give.
void charge_table(std::initializer_list<uint64_t> shape);

/// All that this thread was ever charged, with a budget or without: tests compare it for inputs that grow.
uint64_t work_charged();

/// One call of a recursive descent, which may be `most` calls deep.
class Nesting {
 public:
  Nesting(uint32_t& depth, uint32_t most, const std::string& what) : depth_(depth) {
    if (depth == most) fail("{}: nested deeper than {}", what, most);
    ++depth;
  }
  ~Nesting() { --depth_; }
  Nesting(const Nesting&) = delete;
  Nesting& operator=(const Nesting&) = delete;

 private:
  uint32_t& depth_;
};

}  // namespace mote::convert
