// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/ops/operation.h"

namespace mote {
namespace ops {

struct Pool : Writer<PoolArgs, &PoolArgs::out> {
  static constexpr Traits kTraits{WorkUnit::row, Reads::tokens, true};

  /// A unit for each sequence of the pass.
  static Extent prepare(PoolArgs& args, const RunRows& run, Extent extent) {
    args.first = run.first_sequence;
    args.in = run.in_lanes(args.in.first_lane);
    return {run.end_sequence - run.first_sequence, extent.work};
  }

  template <class To>
  static void describe(const file::Pool& op, To& to) {
    to.kind(file::EnumNamePoolKind(op.kind()), " ", op.out()->width());
    to.reads(op.in());
    to.writes(op.out());
    to.detail(file::EnumNamePoolKind(op.kind()));
  }
};

}  // namespace ops

static_assert(static_cast<int>(file::PoolKind::MAX) == static_cast<int>(PoolKind::max));

inline void Binder::bind(const file::Pool& op, Step* step) {
  const Operand in = f32_slice(op.in(), "in");
  const Operand out = f32_slice(op.out(), "out");
  if (status_ != MOTE_OK) return;
  of_positions(in, "in");
  check(out.kind == file::StreamKind::sequence, "out is not per sequence");
  check(op.kind() <= file::PoolKind::MAX, "unknown kind");
  width(out, in.width, "out");
  check(op.skip() <= kMaxWidth, "skips ", op.skip(), " rows");
  step->pool = {static_cast<PoolKind>(op.kind()),
                in.width,
                place(in).starts,
                in_one_lane(in.const_rows()),
                out.rows(),
                0,
                op.skip()};
  set_rows(step, out, in);
  kernel(step, Op::kPool, DType::f32, DType::f32);
}

}  // namespace mote
