// SPDX-License-Identifier: Apache-2.0
//
// The functions that the reference kernels of operations with a fixed state share.
#pragma once

#include <math.h>
#include <string.h>

#include "kernels/recurrent_ops.h"

namespace mote::ref {

/// log(1 + e^x).
static inline float softplus(float x) { return x > 20.0f ? x : log1pf(expf(x)); }

/// A vector that may be left out.
static inline float value_or_0(const float* vector, uint32_t index) {
  return vector == nullptr ? 0.0f : vector[index];
}

/// A unit's sequence and block.
struct SequenceBlock {
  uint32_t sequence, block;
};

static inline SequenceBlock block_of(const SequenceRows& rows, uint32_t unit, uint32_t units_of_sequence) {
  return {rows.sequences[unit / units_of_sequence], unit % units_of_sequence};
}

/// These columns of the state that the sequence's rows find, in place in what they
/// leave. state_rows are counted over all heads; the next one lies state.cols on.
static inline float* begin_state(const FixedStateView& state, const SequenceRows& rows, uint32_t sequence,
                                 Range state_rows, Range cols) {
  const bool fresh = rows.positions[rows.first[sequence]] == 0;
  const float* const before = state.before(sequence);
  float* const after = state.after(sequence);
  const size_t bytes = (cols.end - cols.begin) * sizeof(float);
  for (uint32_t row = state_rows.begin; row < state_rows.end; ++row) {
    const size_t at = size_t{row} * state.cols + cols.begin;
    if (fresh) {
      memset(after + at, 0, bytes);
    } else {
      memcpy(after + at, before + at, bytes);
    }
  }
  return after + size_t{state_rows.begin} * state.cols + cols.begin;
}

}  // namespace mote::ref
