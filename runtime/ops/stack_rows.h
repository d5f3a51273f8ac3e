// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/ops/operation.h"

namespace mote {
namespace ops {

struct StackRows : Operation {
  static constexpr Traits kTraits{WorkUnit::row, Reads::tokens};

  template <class F>
  static void operands(StackRowsArgs& args, F&& f) {
    rows_of(f, args.out, uint64_t{args.ratio} * args.width);
  }
  static uint64_t work_per_row(const StackRowsArgs& args) { return uint64_t{args.ratio} * args.width; }

  static Extent prepare(StackRowsArgs& args, const RunRows& run, Extent extent) {
    args.in = run.in_lanes(args.in.first_lane);
    return extent;
  }

  template <class To>
  static void describe(const file::StackRows& op, To& to) {
    to.kind(op.out()->width());
    to.reads(op.in());
    to.writes(op.out());
  }
};

}  // namespace ops

inline void Binder::bind(const file::StackRows& op, Step* step) {
  const Operand in = f32_slice(op.in(), "in");
  const Operand out = f32_slice(op.out(), "out");
  if (status_ != MOTE_OK) return;
  const file::Stream* groups = places_.program->streams()->Get(out.stream);
  if (!check(out.kind == file::StreamKind::group && groups->of() == in.stream && groups->fixed() == 0 &&
                 groups->parts() == 1,
             "out has no row for a group of rows of in"))
    return;
  check(groups->needs() == 1, "rows between the groups, or of several of them, cannot be stacked");
  check(uint64_t{groups->ratio()} * in.width == out.width, "out has width ", out.width, " for ",
        groups->ratio(), " rows of ", in.width);
  step->stack_rows = {in.width, groups->ratio(), place(out).firsts, in_one_lane(in.const_rows()), out.rows()};
  set_rows(step, out, in);
  kernel(step, Op::kStackRows, DType::f32, DType::f32);
}

}  // namespace mote
