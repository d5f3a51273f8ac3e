// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/ops/operation.h"

namespace mote::ops {

struct Pool : Writer<PoolArgs, &PoolArgs::out> {
  static constexpr Traits kTraits{WorkUnit::row, Reads::tokens, true};

  /// A unit for each sequence of the pass.
  static Extent prepare(PoolArgs& args, const RunRows& run, Extent extent) {
    args.first = run.first_sequence;
    args.in = run.in_lanes(args.in.first_lane);
    return {run.sequences(), extent.work};
  }

  template <class To>
  static void describe(const file::Pool& op, To& to) {
    to.kind(file::EnumNamePoolKind(op.kind()), " ", op.out()->width());
    in_to_out(op, to);
    to.detail(file::EnumNamePoolKind(op.kind()));
    if (op.padding() >= 0) to.detail("but of token ", static_cast<uint32_t>(op.padding()));
  }
};

static_assert(static_cast<int>(file::PoolKind::MAX) == static_cast<int>(PoolKind::max));

inline void Binder::bind(const file::Pool& op, Step* step) {
  const auto [in, out] = slices(op);
  if (status_ != MOTE_OK) return;
  of_positions(in, "in");
  check(out.kind == file::StreamKind::sequence, "out is not per sequence");
  check(op.kind() <= file::PoolKind::MAX, "unknown kind");
  width(out, in.width, "out");
  check(op.skip() <= kMaxWidth, "skips ", op.skip(), " rows");
  check(op.padding() >= -1, "padding is no token");
  if (op.padding() >= 0) {
    of_tokens(in, "in");
    check(op.kind() == file::PoolKind::last, "padding is of the last row only");
    check(static_cast<uint32_t>(op.padding()) < model_.root->vocab(), "token ",
          static_cast<uint32_t>(op.padding()), " is not in the vocabulary");
  }
  step->pool = {static_cast<PoolKind>(op.kind()),
                in.width,
                place(in).starts,
                in_one_lane(in.const_rows()),
                out.rows(),
                0,
                op.skip(),
                op.padding(),
                places_.ids};
  f32_step(step, Op::kPool, out, in);
}

}  // namespace mote::ops
