// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/ops/operation.h"

namespace mote::ops {

inline constexpr uint32_t kAllRows = UINT32_MAX;  // of groups: runs have one pass

struct Select : Writer<SelectArgs, &SelectArgs::out> {
  static constexpr Traits kTraits{WorkUnit::row, Reads::tokens, true};

  static Extent prepare(SelectArgs& args, const RunRows& run, Extent extent) {
    if (args.rows == kAllRows) return extent;
    args.first = run.first_token;
    args.rows = run.tokens;
    args.in = run.in_lanes(args.in.first_lane);
    return extent;
  }
};

inline void Binder::bind(const file::Select& op, Step* step) {
  const auto [in, out] = slices(op);
  if (status_ != MOTE_OK) return;
  of_positions(in, "in");
  check(out.kind == file::StreamKind::selected, "out is not per selected row");
  check(grid_of(*places_.program, in.stream).times == 0, "in has rows by the picture's size");
  width(out, in.width, "out");
  const uint32_t rows = in.kind == file::StreamKind::token ? 0 : ops::kAllRows;
  step->select = {in.width, places_.selected, in_one_lane(in.const_rows()), out.rows(), 0, rows};
  f32_step(step, Op::kSelect, out, in);
}

}  // namespace mote::ops
