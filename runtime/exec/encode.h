// SPDX-License-Identifier: Apache-2.0
//
// An encoder's run from rows.
#pragma once

#include "runtime/exec/compute.h"

namespace mote {

/// Checks the rows, whole sequences 0, 1, ... one after the other, and starts their run.
mote_status begin_encoding(mote_session* session, const RowSource& source, uint32_t count, mote_error* error);

/// Checks that the session's model encodes, has outputs of the kind, and that `out` has room for a row of
/// them.
mote_status check_output_kind(const mote_session* session, file::OutputKind kind, const void* out,
                              uint32_t width, mote_error* error);

}  // namespace mote
