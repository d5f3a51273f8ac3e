// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/ops/operation.h"

namespace mote::ops {

struct GridGather : OverGrid<GridGatherArgs> {
  template <class To>
  static void details(const file::GridGather& op, To& to) {
    if (op.window() != 1) to.detail("of windows of ", op.window(), " x ", op.window());
    if (op.shift() != 0) to.detail("shifted by ", op.shift());
    if (op.out_window() != 1) to.detail("to windows of ", op.out_window(), " x ", op.out_window());
    if (op.out_shift() != 0) to.detail("shifted by ", op.out_shift());
    if (op.reach() != 1) to.detail(op.reach(), " x ", op.reach(), " places");
  }
};

inline void Binder::bind(const file::GridGather& op, Step* step) {
  const auto [in, out] = slices(op);
  if (status_ != MOTE_OK) return;
  const GridRows pictures = grid({in, out});
  of_any_size(true);
  if (status_ != MOTE_OK) return;
  const GridOrder from = order(in, op.window(), op.shift(), "in"),
                  to = order(out, op.out_window(), op.out_shift(), "out");
  check(out.kind == file::StreamKind::group, "out has a row for each token");
  check(op.reach() >= 1 && op.reach() <= kMaxRatio, op.reach(), " x ", op.reach(), " places side by side");
  width(out, uint64_t{op.reach()} * op.reach() * in.width, "out");
  apart(op);
  if (status_ != MOTE_OK) return;
  const uint32_t skip = in.kind == file::StreamKind::token ? model_.root->picture()->before() : 0;
  step->grid_gather = {in.width,  op.reach(), from, to, skip, pictures, in_one_lane(in.const_rows()),
                       out.rows()};
  f32_step(step, Op::kGridGather, out, in);
}

}  // namespace mote::ops
