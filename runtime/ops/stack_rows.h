// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/ops/operation.h"

namespace mote::ops {

struct StackRows : FromNeighbours<StackRowsArgs> {};

inline void Binder::bind(const file::StackRows& op, Step* step) {
  const auto [in, out] = slices(op);
  if (status_ != MOTE_OK) return;
  const file::Stream* groups = places_.program->streams()->Get(out.stream);
  if (!check(out.kind == file::StreamKind::group && groups->of() == in.stream && groups->fixed() == 0 &&
                 groups->parts() == 1 && groups->grid_times() == 0,
             "out has no row for a group of rows of in"))
    return;
  check(groups->needs() == 1, "rows between the groups, or of several of them, cannot be stacked");
  check(uint64_t{groups->ratio()} * in.width == out.width, "out has width ", out.width, " for ",
        groups->ratio(), " rows of ", in.width);
  step->stack_rows = {in.width, groups->ratio(), place(out).firsts, in_one_lane(in.const_rows()), out.rows()};
  f32_step(step, Op::kStackRows, out, in);
}

}  // namespace mote::ops
