// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/ops/operation.h"

namespace mote {
namespace ops {

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

  template <class To>
  static void describe(const file::Select& op, To& to) {
    to.kind(op.out()->width());
    to.reads(op.in());
    to.writes(op.out());
  }
};

}  // namespace ops

inline void Binder::bind(const file::Select& op, Step* step) {
  const Operand in = f32_slice(op.in(), "in");
  const Operand out = f32_slice(op.out(), "out");
  if (status_ != MOTE_OK) return;
  of_positions(in, "in");
  check(out.kind == file::StreamKind::selected, "out is not per selected row");
  width(out, in.width, "out");
  const uint32_t rows = in.kind == file::StreamKind::token ? 0 : ops::kAllRows;
  step->select = {in.width, places_.selected, in_one_lane(in.const_rows()), out.rows(), 0, rows};
  set_rows(step, out, in);
  kernel(step, Op::kSelect, DType::f32, DType::f32);
}

}  // namespace mote
