// SPDX-License-Identifier: Apache-2.0
//
// Where the parts of a session lie in its arena.
#pragma once

#include "runtime/exec/arena.h"
#include "runtime/exec/session.h"

namespace mote {

/// Gives every part of the session its place and says what each kind of memory takes. `options`, `isa` and
/// `kv_dtype` of the session are set before. Fails where the build lacks a kernel or an operation would have
/// too many work units.
mote_status lay_out(Arena& arena, mote_session* session, mote_memory* memory, mote_error* error);

/// Lays out the session without an arena: *bytes becomes the size of the arena. Fails where no arena could be
/// so large.
mote_status count_bytes(mote_session* session, mote_memory* memory, uint64_t* bytes, mote_error* error);

/// Makes `places`, those of the session, the program's.
void set_program(const mote_session& session, const file::Program& program, Places* places);

}  // namespace mote
