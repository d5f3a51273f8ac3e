// SPDX-License-Identifier: Apache-2.0
//
// Where the operands of Linear lie, for the kernels of every x86 family. Internal linkage: each file compiles
// them for its own instructions.
#pragma once

#include "kernels/ops.h"

namespace mote {

/// A single row is bound by memory, and one sequential stream does not keep enough reads in flight: the range
/// is cut in four parts that are read side by side. On Zen 3 that is 1.3 to 1.5 times as fast as one stream,
/// and faster than one or more streams with prefetches 1.1 or 2.3 KB ahead.
static constexpr uint32_t kLinearStreams = 4;

/// A tile's sums of one panel.
template <uint32_t R>
struct alignas(64) PanelSums {
  float row[R][kPanelRows];
};

static inline const char* linear_panel(const LinearArgs& args, DType dtype, uint32_t panel) {
  return static_cast<const char*>(args.weight) + panel * panel_bytes(dtype, args.inputs);
}

static inline const char* linear_row(const LinearArgs& args, uint32_t row) {
  return static_cast<const char*>(args.in) + row * args.in_stride_bytes;
}

}  // namespace mote
