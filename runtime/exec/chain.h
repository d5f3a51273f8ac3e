// SPDX-License-Identifier: Apache-2.0
//
// Which steps need not wait for the step before.
//
// Most operations read of other operands only the row that they write. Several of them in a row (a norm and
// the quantizing of its output, a gate and the same) are a chain: a thread takes a few rows through all of
// them while those lie in its L1, and the threads meet once, at the end. The planner gives buffers that are
// no longer needed to others, so that row 5 of one operand may lie where row 7 of another does: such steps do
// not follow each other.
//
// Where each thread has rows, and buffers for them, of its own (lane.h), it goes through linear operations
// and attention, too, without waiting for anyone, until one reads keys and values that others store, or takes
// whole sequences.
#pragma once

#include "runtime/exec/bind.h"

namespace mote {

/// Rows of an operand: `bytes` of each `stride_bytes`.
struct RowSpan {
  const void* first;
  size_t stride_bytes;
  size_t bytes;
};

/// Says whether no row of one operand lies over another row of the other; the same row may.
bool rows_stay_apart(const RowSpan& a, const RowSpan& b, uint32_t rows);

// Each step is compared with those before it in its chain, or since the last barrier. These bounds keep the
// cost linear in the steps of a file. Transformers have chains of up to 8 steps, and up to 20 steps from
// barrier to barrier.
inline constexpr uint32_t kMaxChain = 16;
inline constexpr uint32_t kMaxFromBarrier = 64;

/// Sets `chained` of all steps.
void chain_steps(const Places& places, Step* steps, uint32_t count);

/// Sets `needs_barrier` of all steps.
void part_steps(Step* steps, uint32_t count);

}  // namespace mote
