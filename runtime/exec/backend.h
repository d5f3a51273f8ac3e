// SPDX-License-Identifier: Apache-2.0
//
// Linear operations that a mote_backend computes (mote/backend.h): which they are, the slices, and what is
// left to mote's own kernel.
#pragma once

#include "mote/backend.h"
#include "runtime/exec/bind.h"

namespace mote {

/// Says whether a backend computes the operation: a linear operation with f32 weights.
bool is_for_backend(const mote_model& model, uint32_t op);

/// Bytes of scratch of one thread for operation `op`, those of mote's own kernel for it included.
uint64_t backend_scratch_bytes(const mote_model& model, uint32_t op, uint32_t slices,
                               const KernelEntry& kernel);

/// Runs the slices whose first panel lies in `panels`: whatever the fork, each slice is run once. step.op is
/// Op::kLinear, of operation `op`.
void run_on_backend(const mote_backend& backend, uint32_t op, const Step& step, Range panels,
                    uint8_t* scratch);

}  // namespace mote
