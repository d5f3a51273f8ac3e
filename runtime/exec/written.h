// SPDX-License-Identifier: Apache-2.0
//
// Proves that nothing of what an arena held before reaches a program's outputs.
#pragma once

#include "runtime/exec/bind.h"

namespace mote {

/// Proves that every column that an operation reads, and those of the output and of the probes, were written
/// by an earlier operation of the program. `places`: those of the program, whose operations were proved.
/// Notes what was written of a buffer in the first 64 bytes of the buffer's place. The work is linear in the
/// operations.
mote_status check_written(const mote_model& model, const Places& places, mote_error* error);

}  // namespace mote
