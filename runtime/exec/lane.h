// SPDX-License-Identifier: Apache-2.0
//
// Lanes: where rows are many, each thread has rows of its own in all operations, and buffers of its own for
// what lies between them.
//
// Most work units are rows, and a thread that has the same rows in every operation finds them in its own
// caches. Units of linear operations and attention are panels and heads of all rows: half of what one of two
// threads then reads, the other wrote, and such cache lines are slow to read and to write again. Rows of its
// own are not enough for a thread: the memory plan gives the bytes of one operand to later operands with rows
// of another width, so the lines would still be shared. A lane is therefore a whole set of buffers for some
// of the rows. In lanes, steps follow each other without a barrier up to one that reads keys and values that
// another lane stores, and one that takes a sequence's rows in order, which is a fork over the rows of all
// lanes; where lanes are whole sequences of an encoder, there is no such step.
#pragma once

#include "runtime/exec/bind.h"

namespace mote {

/// The sizes that decide how many rows are enough: of all linear operations of a program together.
struct LinearWeights {
  bool integers;
  uint32_t columns;  // of the first
  uint64_t bytes;
};

/// Rows that each of `threads` must have: in lanes each reads all weights. UINT32_MAX for no lanes.
uint32_t least_lane_rows(const LinearWeights& weights, const Tuning& tuning, uint32_t threads);
uint32_t least_lane_rows(const mote_model& model, const file::Program& program, const Tuning& tuning,
                         uint32_t threads);

/// Rows of a lane where `rows` are dealt to `lanes`; the last lanes may have fewer, or none.
inline uint32_t rows_of_lane(uint32_t rows, uint32_t lanes) { return (rows + lanes - 1) / lanes; }

/// Says whether lanes can take the step: its rows are tokens, and no unit of it is a sequence, whose rows may
/// be another lane's. Other steps are forks of their own over the rows of all lanes.
bool may_be_in_lane(const Step& step);

/// A step over the rows of a lane, `first_row` and on, which keep their numbers. The lane's buffers lie
/// `lane_bytes` behind those of the first one, which `step` is bound to.
Step in_lane(const Step& step, size_t lane_bytes, uint32_t first_row);

}  // namespace mote
