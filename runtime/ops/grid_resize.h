// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/ops/operation.h"

namespace mote::ops {

struct GridResize : OverGrid<GridResizeArgs> {
  static uint64_t work_per_row(const GridResizeArgs& args) { return uint64_t{8} * args.width; }

  template <class To>
  static void describe(const file::GridResize& op, To& to) {
    to.kind(op.out()->width());
    in_to_out(op, to);
    to.detail("lines of ", op.columns(), " to ", op.out_columns());
  }
};

inline void Binder::bind(const file::GridResize& op, Step* step) {
  const auto [in, out] = slices(op);
  if (status_ != MOTE_OK) return;
  const GridRows rows = grid(in, out);
  check(op.columns() - 1 < kMaxContext && op.out_columns() - 1 < kMaxContext, "lines of ", op.columns(),
        " and ", op.out_columns(), " places");
  width(out, in.width, "out");
  apart(op);
  step->grid_resize = {in.width,  op.columns(), op.out_columns(), rows, in_one_lane(in.const_rows()),
                       out.rows()};
  f32_step(step, Op::kGridResize, out, in);
}

}  // namespace mote::ops
