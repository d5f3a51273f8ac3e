// SPDX-License-Identifier: Apache-2.0
#include "runtime/exec/chain.h"

#include "runtime/exec/lane.h"
#include "runtime/ops/ops.h"

namespace mote {
namespace {

/// Operands of an operation that goes by rows; of another 0.
template <class Operation, class Args>
constexpr uint32_t operands_of() {
  if (!Operation::kTraits.by_rows()) return 0;
  Args args{};
  uint32_t count = 0;
  Operation::operands(args, [&](const void*, size_t, size_t) { ++count; });
  return count;
}

constexpr uint32_t most_operands() {
  uint32_t most = 0;
  for (const uint32_t count : {
#define OP(op_name, operation, types) operands_of<ops::op_name, op_name##Args>(),
#include "kernels/op_list.inc"
       })
    most = count > most ? count : most;
  return most;
}

constexpr uint32_t kMaxOperands = most_operands();

/// The operands that lie in buffers, of an operation that goes by rows: their number, else 0.
uint32_t row_operands(const Step& step, RowSpan operands[kMaxOperands]) {
  uint32_t count = 0;
  if (!traits_of(step.op).by_rows()) return count;
  Step copy = step;
  for_each_operand(copy, [&](const void* data, size_t stride_bytes, size_t bytes) {
    if (data == nullptr) return;
    operands[count++] = {data, stride_bytes, bytes};
  });
  return count;
}

/// Says whether `later` may take a row as soon as `earlier` has.
bool may_follow(const Places& places, const Step& earlier, const Step& later) {
  RowSpan before[kMaxOperands], after[kMaxOperands];
  const uint32_t before_count = row_operands(earlier, before), after_count = row_operands(later, after);
  if (before_count == 0 || after_count == 0 || earlier.stream != later.stream) return false;
  for (uint32_t i = 0; i < before_count; ++i) {
    for (uint32_t j = 0; j < after_count; ++j) {
      if (!rows_stay_apart(before[i], after[j], places.streams[later.stream].rows)) return false;
    }
  }
  return true;
}

const void* state_read(const Step& step) {
  return visit_step(step, [](auto operation, const auto& args) { return operation.state_read(args); });
}
const void* state_written(const Step& step) {
  return visit_step(step, [](auto operation, const auto& args) { return operation.state_written(args); });
}

/// Says whether lanes can take the step and none of its rows reads another's operands.
bool goes_by_tokens(const Step& step) {
  return may_be_in_lane(step) && traits_of(step.op).reads != Reads::tokens;
}

/// Says whether the steps can be in one fork of lanes without a barrier.
bool may_be_in_lanes(const Step& one, const Step& other) {
  return goes_by_tokens(one) && goes_by_tokens(other);
}

/// Says whether rows of one step reach those of the other through a state: one step writes the state that the
/// other reads.
bool share_a_state(const Step& one, const Step& other) {
  const void* read = state_read(one);
  const void* read_by_other = state_read(other);
  return (read != nullptr && read == state_written(other)) ||
         (read_by_other != nullptr && read_by_other == state_written(one));
}

}  // namespace

bool rows_stay_apart(const RowSpan& a, const RowSpan& b, uint32_t rows) {
  const uintptr_t a_begin = reinterpret_cast<uintptr_t>(a.first),
                  b_begin = reinterpret_cast<uintptr_t>(b.first);
  if (rows < 2) return true;
  if (a_begin + (rows - 1) * a.stride_bytes + a.bytes <= b_begin) return true;
  if (b_begin + (rows - 1) * b.stride_bytes + b.bytes <= a_begin) return true;
  // They meet: both must be columns of the same rows.
  const size_t distance = a_begin < b_begin ? b_begin - a_begin : a_begin - b_begin;
  const size_t end = distance + (a_begin < b_begin ? b.bytes : a.bytes);
  return a.stride_bytes == b.stride_bytes && end <= a.stride_bytes;
}

void chain_steps(const Places& places, Step* steps, uint32_t count) {
  for (uint32_t first = 0, next; first < count; first = next) {
    steps[first].chained = false;
    for (next = first + 1; next < count && next - first < kMaxChain; ++next) {
      bool follows = true;
      for (uint32_t i = first; i < next; ++i) follows = follows && may_follow(places, steps[i], steps[next]);
      if (!follows) break;
      steps[next].chained = true;
    }
  }
}

void part_steps(Step* steps, uint32_t count) {
  for (uint32_t first = 0, next; first < count; first = next) {
    steps[first].needs_barrier = true;
    for (next = first + 1; next < count && next - first < kMaxFromBarrier; ++next) {
      steps[next].needs_barrier = false;
      bool parted = may_be_in_lanes(steps[first], steps[next]);
      for (uint32_t i = first; i < next; ++i) parted = parted && !share_a_state(steps[i], steps[next]);
      if (!parted) break;
    }
  }
}

}  // namespace mote
