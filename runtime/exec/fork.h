// SPDX-License-Identifier: Apache-2.0
//
// A fork: steps that threads run together, over units that they share (work_stealing.h), and meet at the end.
#pragma once

#include "runtime/exec/session.h"

namespace mote {

/// The kinds of units of a fork.
enum class ForkKind : uint8_t {
  rows,    // a row, through a chain of steps
  panels,  // a unit across all rows of one step: a panel, a KV head of a block of rows, a block of a sequence
  lanes,   // some kernels' units of a lane's rows, of one step after the other (lane.h)
  streams,  // a panel of each of the streams that a single row is multiplied with
  backend,  // a panel: its owner runs the backend's slices that begin there
};

/// The threads read it from one cache line.
struct alignas(64) Fork {
  const mote_session* session;
  const Step* steps;  // of the session
  ForkKind kind;
  uint32_t first, end;  // a chain; in lanes, any that need not meet
  uint32_t rows;
  uint32_t units;      // kernels' units of all rows; not of lanes
  uint32_t parts;      // threads
  uint32_t lane_rows;  // of lanes
  uint32_t least;      // units of a piece
};
static_assert(sizeof(Fork) == 64);

/// How the chain that begins with `step` is forked where there are no lanes.
ForkKind fork_kind(const Step& step, uint32_t rows);

/// `work`: rough multiply-adds of all units; 0 where they are not counted.
void run_alone(const Fork& fork);
void run_together(Fork* fork, uint64_t work);

}  // namespace mote
