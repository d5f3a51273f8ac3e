// SPDX-License-Identifier: Apache-2.0
//
// The operations that carry a state of a fixed size from row to row of a sequence: their contracts, as ops.h
// has those of the others.
//
// A unit is a sequence with rows in the call and one of its blocks: unit u is block u % B of sequence
// rows.sequences[u / B], B = units_of_sequence(). It takes the sequence's rows in order, so the outputs and
// the state that is left do not depend on how a text is cut into calls or on what other sequences are in
// them. Products and sums are rounded each, in the order written: a loop over columns has the same bits in
// vectors of any length. `out` overlaps no other operand, except where said.
#pragma once

#include "kernels/ops.h"

namespace mote {

inline constexpr uint32_t kNoRow = UINT32_MAX;

/// The rows of a call by sequence.
struct SequenceRows {
  const uint32_t* sequences;  // [S] those that have rows, in any order
  const uint32_t* first;      // [batch] the first row of each of them
  const uint32_t* next;       // [T] the sequence's next row, of the next position; kNoRow behind the last
  const int32_t* positions;   // [T]
};

/// f32 [heads, rows, cols] of each sequence, twice: a call reads one of the two and writes the other, so a
/// call that is broken off changes nothing. What a call reads at position 0 is 0, whatever lies there.
struct FixedStateView {
  float* slots;            // [batch][2][slot_floats], 64-byte aligned
  const uint8_t* current;  // [batch] which of the two a call reads: 0 or 1
  size_t slot_floats;      // a multiple of 16
  uint32_t heads;
  uint32_t rows;
  uint32_t cols;
  uint32_t index;  // of the state in the file

  float* slot(uint32_t sequence, uint32_t which) const {
    return slots + (size_t{sequence} * 2 + which) * slot_floats;
  }
  const float* before(uint32_t sequence) const { return slot(sequence, current[sequence]); }
  float* after(uint32_t sequence) const { return slot(sequence, current[sequence] ^ 1u); }
};

/// Rows of the operands of a call, of which so many at a time lie one after the other.
struct Lanes {
  uint32_t rows;
  size_t bytes;  // from lane to lane

  template <class AnyRows>
  auto row(const AnyRows& first_lane, uint32_t row) const {
    const auto at = reinterpret_cast<uintptr_t>(first_lane[row % rows]) + row / rows * bytes;
    return reinterpret_cast<decltype(first_lane[row])>(at);
  }
};
inline constexpr Lanes kOneLane{UINT32_MAX, 0};

inline constexpr uint32_t kMaxTaps = 8;
inline constexpr uint32_t kChannelBlock = 64;  // columns of a block where a column needs no other

constexpr uint32_t channel_blocks(uint32_t width) { return (width + kChannelBlock - 1) / kChannelBlock; }

/// out[t][c] = activation(bias[c] + weight[0][c] x[c] of the row L - 1 before + ... + weight[L - 1][c]
/// in[t][c]), L the taps: each channel's convolution with the last L rows of its sequence. The state, [1, L -
/// 1, C], has the rows before the call, the oldest first. out may be in. Block: kChannelBlock channels.
struct CausalConvArgs {
  FixedStateView state;
  SequenceRows rows;
  Lanes lanes;
  uint32_t taps;   // 2 to kMaxTaps
  uint32_t width;  // C
  Activation activation;
  const float* weight;  // [L, C], the oldest tap first
  const float* bias;    // [C] or null: 0
  ConstRows in;         // [T, C]
  Rows out;             // [T, C]

  uint32_t units_of_sequence() const { return channel_blocks(width); }
};

}  // namespace mote
