// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/ops/operation.h"

namespace mote::ops {

struct GridFrames : OverGrid<GridFramesArgs> {
  template <class To>
  static void details(const file::GridFrames& op, To& to) {
    to.detail(op.reach(), " x ", op.reach(), " places, lines of ", op.columns(), ", step ", op.step(), ", ",
              op.before(), " before");
    if (op.times() != 0) to.detail("of any size");
  }
};

inline void Binder::bind(const file::GridFrames& op, Step* step) {
  const InOut rows = slices(op);
  if (status_ != MOTE_OK) return;
  const GridRows pictures = grid(rows);
  const bool window = op.reach() >= 1 && op.reach() <= kMaxRatio && op.before() < op.reach() &&
                      op.step() >= 1 && op.step() <= kMaxRatio;
  check(op.columns() - 1 < kMaxContext && op.skip() <= kMaxContext, "lines of ", op.columns(),
        " places behind ", op.skip(), " rows");
  check(window, "a window of ", op.reach(), " places, ", op.before(), " of them before, in steps of ",
        op.step());
  const GridScale scale = this->scale(op.times(), op.every());
  if (status_ != MOTE_OK) return;
  const uint32_t room = op.columns() + 2 * op.before();
  check(room >= op.reach(), "a window of ", op.reach(), " places in lines of ", op.columns());
  width(rows.out, uint64_t{op.reach()} * op.reach() * rows.in.width, "out");
  apart(op);
  step->grid_frames = {
      rows.in.width, op.columns(), scale,    (room - op.reach()) / op.step() + 1, op.reach(),     op.before(),
      op.step(),     op.skip(),    pictures, in_one_lane(rows.in.const_rows()),   rows.out.rows()};
  f32_step(step, Op::kGridFrames, rows.out, rows.in);
}

}  // namespace mote::ops
