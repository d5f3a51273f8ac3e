// SPDX-License-Identifier: Apache-2.0
//
// A fork: steps that threads run together, over rows and panels that they share (share.h) or in lanes
// (lane.h), and meet at the end.
#pragma once

#include "runtime/exec/session.h"

namespace mote {

/// The threads read it from one cache line.
struct alignas(64) Fork {
  const mote_session* session;
  const Step* steps;    // of the session
  uint32_t first, end;  // a chain; in lanes, any that need not meet
  uint32_t rows;
  uint32_t units;      // where all rows are everyone's
  uint32_t parts;      // threads
  uint32_t lane_rows;  // 0: all rows are everyone's
  uint32_t least;      // units of a piece
};

/// Units of a chain of steps that begins with `step`, of `rows` that are everyone's: rows, panels, or heads
/// of a block of rows.
uint32_t units_of(const Step& step, uint32_t rows);

/// `work`: rough multiply-adds of all units.
void run_alone(const Fork& fork);
void run_together(Fork* fork, uint64_t work);

}  // namespace mote
