// SPDX-License-Identifier: Apache-2.0
//
// The patches in a line of each picture of a run, for the operations that depend on them
// (kernels/grid_ops.h).
#pragma once

#include "mote/mote.h"
#include "runtime/exec/session.h"

namespace mote {

/// Checks that a picture of so many rows has lines of `columns` patches. Passes for 0, which stands for the
/// model's own lines, or for one line where the rows are others. Fails for pictures of fewer patches on a
/// side than the model takes.
mote_status check_grid(const mote_session& session, uint32_t sequence, uint32_t rows, uint32_t columns,
                       mote_error* error);

/// Keeps the patches of the run's sequence of that number, which check_grid has let pass.
void set_grid(const mote_session& session, uint32_t index, uint32_t rows, uint32_t columns);

}  // namespace mote
