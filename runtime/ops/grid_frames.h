// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/ops/operation.h"

namespace mote::ops {

struct GridFrames : OverGrid<GridFramesArgs> {
  template <class F>
  static constexpr void operands(GridFramesArgs& args, F&& f) {
    rows_of(f, args.out, out_width(args));
  }
  static uint64_t work_per_row(const GridFramesArgs& args) { return out_width(args); }

  template <class To>
  static void describe(const file::GridFrames& op, To& to) {
    to.kind(op.in()->width(), " x ", op.reach(), " x ", op.reach());
    in_to_out(op, to);
    to.detail("lines of ", op.columns(), ", step ", op.step(), ", ", op.before(), " before");
  }

 private:
  static constexpr uint64_t out_width(const GridFramesArgs& args) {
    return uint64_t{args.reach} * args.reach * args.width;
  }
};

inline void Binder::bind(const file::GridFrames& op, Step* step) {
  const auto [in, out] = slices(op);
  if (status_ != MOTE_OK) return;
  const GridRows rows = grid(in, out);
  const bool window = op.reach() >= 1 && op.reach() <= kMaxRatio && op.before() < op.reach() &&
                      op.step() >= 1 && op.step() <= kMaxRatio;
  check(op.columns() - 1 < kMaxContext && op.skip() <= kMaxContext, "lines of ", op.columns(),
        " places behind ", op.skip(), " rows");
  check(window, "a window of ", op.reach(), " places, ", op.before(), " of them before, in steps of ",
        op.step());
  if (status_ != MOTE_OK) return;
  const uint32_t room = op.columns() + 2 * op.before();
  check(room >= op.reach(), "a window of ", op.reach(), " places in lines of ", op.columns());
  width(out, uint64_t{op.reach()} * op.reach() * in.width, "out");
  apart(op);
  step->grid_frames = {
      in.width,  op.columns(), (room - op.reach()) / op.step() + 1, op.reach(), op.before(), op.step(),
      op.skip(), rows,         in_one_lane(in.const_rows()),        out.rows()};
  f32_step(step, Op::kGridFrames, out, in);
}

}  // namespace mote::ops
