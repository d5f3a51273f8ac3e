// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/ops/operation.h"

namespace mote::ops {

struct GridResize : OverGrid<GridResizeArgs> {
  static uint64_t work_per_row(const GridResizeArgs& args) { return uint64_t{8} * args.width; }

  template <class To>
  static void details(const file::GridResize& op, To& to) {
    to.detail("lines of ", op.columns(), " to ", op.out_columns());
    if (op.times() != 0) to.detail("of any size");
  }
};

inline void Binder::bind(const file::GridResize& op, Step* step) {
  const InOut rows = slices(op);
  if (status_ != MOTE_OK) return;
  const GridRows pictures = grid(rows);
  check(op.columns() - 1 < kMaxContext && op.out_columns() - 1 < kMaxContext, "lines of ", op.columns(),
        " and ", op.out_columns(), " places");
  const GridScale from = scale(op.times(), op.every()), to = scale(op.out_times(), op.out_every());
  check((from.times == 0) == (to.times == 0), "pictures of any size to one size");
  width(rows.out, rows.in.width, "out");
  apart(op);
  step->grid_resize = {
      rows.in.width,  op.columns(), op.out_columns(), from, to, pictures, in_one_lane(rows.in.const_rows()),
      rows.out.rows()};
  f32_step(step, Op::kGridResize, rows.out, rows.in);
}

}  // namespace mote::ops
