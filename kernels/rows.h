// SPDX-License-Identifier: Apache-2.0
//
// The types that the contracts of the operations share: the rows they take and give, the part of the work
// that a call is for, and its scratch.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "schema/block_formats.h"

namespace mote {

struct Range {
  uint32_t begin, end;
};

/// The largest call of a step, as far as scratch depends on it.
struct ScratchShape {
  uint64_t rows;               // of linear
  uint64_t inputs;             // of linear
  uint64_t heads_per_kv_head;  // of attention
  uint32_t key_dim;            // of attention and gated_delta
  uint32_t value_dim;          // of attention and gated_delta
};

/// Bytes of scratch that any call of at most this shape needs, a multiple of 64. Grows with each member.
using ScratchBytes = uint64_t (*)(const ScratchShape& shape);

/// Rows of f32.
struct Rows {
  float* data;
  size_t stride_bytes;
  float* operator[](size_t row) const {
    return reinterpret_cast<float*>(reinterpret_cast<char*>(data) + row * stride_bytes);
  }
};
struct ConstRows {
  const float* data;
  size_t stride_bytes;
  const float* operator[](size_t row) const {
    return reinterpret_cast<const float*>(reinterpret_cast<const char*>(data) + row * stride_bytes);
  }
};

/// Rows of f32 of which so many at a time lie one after the other.
struct ConstRowsInLanes {
  ConstRows first_lane;
  uint32_t lane_rows;
  size_t lane_bytes;  // from lane to lane
  const float* operator[](uint32_t row) const {
    const float* at = first_lane[row % lane_rows];
    return reinterpret_cast<const float*>(reinterpret_cast<const char*>(at) + row / lane_rows * lane_bytes);
  }
};
inline ConstRowsInLanes in_one_lane(ConstRows rows) { return {rows, UINT32_MAX, 0}; }

enum class Activation : uint8_t {
  none = 0,
  silu = 1,
  gelu = 2,
  gelu_tanh = 3,
  relu = 4,
  quick_gelu = 5,
  tanh = 6,
  sigmoid = 7
};

}  // namespace mote
