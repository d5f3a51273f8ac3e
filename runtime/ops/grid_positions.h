// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/ops/operation.h"

namespace mote::ops {

struct GridPositions : Writer<GridPositionsArgs, &GridPositionsArgs::x> {
  static uint64_t work_per_row(const GridPositionsArgs& args) { return uint64_t{16} * args.width; }

  static Extent prepare(GridPositionsArgs& args, const RunRows& run, Extent extent) {
    args.rows.first = run.first_sequence;
    return extent;
  }

  template <class To>
  static void describe(const file::GridPositions& op, To& to) {
    to.kind(op.x()->width());
    to.updates(op.x());
    to.tensor(op.table());
    to.detail(op.columns(), " x ", op.lines(), " positions");
  }
};

inline void Binder::bind(const file::GridPositions& op, Step* step) {
  const Operand x = f32_slice(op.x(), "x");
  if (status_ != MOTE_OK) return;
  of_tokens(x, "x");
  of_any_size(true);
  check(is_whole(*places_.program), "pictures are whole sequences");
  check(op.lines() - 1 < kMaxContext && op.columns() - 1 < kMaxContext && op.before() <= kMaxContext &&
            op.after() <= kMaxContext,
        op.columns(), " x ", op.lines(), " positions, ", op.before(), " before and ", op.after(), " after");
  const uint64_t rows = op.before() + uint64_t{op.lines()} * op.columns() + op.after();
  check(rows <= kMaxWidth, "a table of ", rows, " rows");
  if (status_ != MOTE_OK) return;
  const GridRows pictures{place(x).starts, place(x).starts, 0, places_.grids};
  step->grid_positions = {matrix(op.table(), static_cast<uint32_t>(rows), x.width, "table"),
                          x.width,
                          {op.lines(), op.columns()},
                          op.before(),
                          op.after(),
                          pictures,
                          x.rows()};
  f32_step(step, Op::kGridPositions, x);
}

}  // namespace mote::ops
