// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/ops/operation.h"

namespace mote {
namespace ops {

struct GridResize : OverGrid<GridResizeArgs> {
  static uint64_t work_per_row(const GridResizeArgs& args) { return uint64_t{8} * args.width; }

  template <class To>
  static void describe(const file::GridResize& op, To& to) {
    to.kind(op.out()->width());
    to.reads(op.in());
    to.writes(op.out());
    to.detail("lines of ", op.columns(), " to ", op.out_columns());
  }
};

}  // namespace ops

inline void Binder::bind(const file::GridResize& op, Step* step) {
  const Operand in = f32_slice(op.in(), "in");
  const Operand out = f32_slice(op.out(), "out");
  if (status_ != MOTE_OK) return;
  const GridRows rows = grid(in, out);
  check(op.columns() - 1 < kMaxContext && op.out_columns() - 1 < kMaxContext, "lines of ", op.columns(),
        " and ", op.out_columns(), " places");
  width(out, in.width, "out");
  check(op.in()->buffer() != op.out()->buffer(), "out is in");
  step->grid_resize = {in.width,  op.columns(), op.out_columns(), rows, in_one_lane(in.const_rows()),
                       out.rows()};
  set_rows(step, out, in);
  kernel(step, Op::kGridResize, DType::f32, DType::f32);
}

}  // namespace mote
