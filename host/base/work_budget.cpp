// SPDX-License-Identifier: Apache-2.0
#include "host/base/work_budget.h"

#include <utility>

namespace mote::convert {
namespace {

thread_local WorkBudget* budget_in_force = nullptr;
thread_local uint64_t all_charged = 0;

uint64_t limit_of(uint64_t bytes, uint64_t steps_per_byte, uint64_t free_steps) {
  uint64_t limit = 0;
  if (__builtin_mul_overflow(bytes, steps_per_byte, &limit) ||
      __builtin_add_overflow(limit, free_steps, &limit))
    return UINT64_MAX;
  return limit;
}

}  // namespace

WorkBudget::WorkBudget(std::string what, uint64_t bytes, uint64_t steps_per_byte, uint64_t free_steps)
    : what_(std::move(what)),
      bytes_(bytes),
      limit_(limit_of(bytes, steps_per_byte, free_steps)),
      before_(std::exchange(budget_in_force, this)) {}

WorkBudget::~WorkBudget() { budget_in_force = before_; }

void WorkBudget::charge(uint64_t steps) {
  if (steps > limit_ - spent_) {
    spent_ = limit_;
    throw WorkExceeded(
        fmt::format("{}: reading its {} bytes takes more than {} steps of work and memory, the limit for so "
                    "many bytes",
                    what_, bytes_, limit_));
  }
  spent_ += steps;
}

void charge_work(uint64_t steps) {
  all_charged += steps;
  if (budget_in_force != nullptr) budget_in_force->charge(steps);
}

void charge_table(std::initializer_list<uint64_t> shape) {
  uint64_t bytes = sizeof(float);
  for (const uint64_t size : shape) {
    if (__builtin_mul_overflow(bytes, size, &bytes)) bytes = UINT64_MAX;
    if (size == 0) bytes = 0;
  }
  charge_bytes(bytes);
}

uint64_t work_charged() { return all_charged; }

}  // namespace mote::convert
