// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/ops/operation.h"

namespace mote::ops {

struct GridResize : OverGrid<GridResizeArgs> {
  static uint64_t work_per_row(const GridResizeArgs& args) { return uint64_t{8} * args.width; }

  template <class To>
  static void details(const file::GridResize& op, To& to) {
    to.detail("lines of ", op.columns(), " to ", op.out_columns());
  }
};

inline void Binder::bind(const file::GridResize& op, Step* step) {
  const InOut rows = slices(op);
  if (status_ != MOTE_OK) return;
  const GridRows pictures = grid(rows);
  check(op.columns() - 1 < kMaxContext && op.out_columns() - 1 < kMaxContext, "lines of ", op.columns(),
        " and ", op.out_columns(), " places");
  width(rows.out, rows.in.width, "out");
  apart(op);
  step->grid_resize = {
      rows.in.width,  op.columns(), op.out_columns(), pictures, in_one_lane(rows.in.const_rows()),
      rows.out.rows()};
  f32_step(step, Op::kGridResize, rows.out, rows.in);
}

}  // namespace mote::ops
