// SPDX-License-Identifier: Apache-2.0
//
// The streams of rows of a program, and the buffers that have their rows.
#pragma once

#include "runtime/file/model.h"

namespace mote {

/// Proves the program's streams and the places of its buffers in them.
mote_status check_program_rows(const mote_model& model, const file::Program& program, mote_error* error);

}  // namespace mote
