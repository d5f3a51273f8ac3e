// SPDX-License-Identifier: Apache-2.0
//
// Places every value of a graph in the arena. There is a region for each unit, with a row per token of the
// chunk, per selected token, per sequence or per group of rows; offsets are bytes per row, so one plan serves
// every chunk size.
//
// A value lives from the first node that touches it to the last, both included. Values are placed from the
// widest to the narrowest (ties: the earlier first), each into the smallest gap that holds it between the
// already placed values of its region that live at the same time, or after the last of them. This is greedy
// by size with best fit, which for transformers comes out at the width of the widest moment; plan_memory is
// quadratic in the number of values.
//
// Values in one place with one shape become one buffer, so a file has as many buffers as a layer, not as all
// layers.
#pragma once

#include "converter/graph.h"

namespace mote::convert {

struct PlannedBuffer {
  uint32_t width;
  DType dtype;
  Unit unit;
  uint32_t offset;  // bytes per row of the unit, a multiple of 64
  bool operator==(const PlannedBuffer&) const = default;
};

struct MemoryPlan {
  std::vector<PlannedBuffer> buffers;
  std::vector<uint32_t> buffer_of;  // [values]
  std::vector<uint32_t> row_bytes;  // by unit
  uint32_t bytes(Unit unit) const { return row_bytes[static_cast<size_t>(unit)]; }
};

struct Lifetime {
  uint32_t first, last;  // nodes
};

/// Returns the lifetime of every value. The output lives to the end.
std::vector<Lifetime> lifetimes(const ProgramGraph& graph);

/// Throws Error if a region would exceed 2^30 bytes a row.
MemoryPlan plan_memory(const ProgramGraph& graph);

}  // namespace mote::convert
