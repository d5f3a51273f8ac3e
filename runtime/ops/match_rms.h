// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/ops/operation.h"

namespace mote::ops {

struct MatchRms : RowMap<MatchRmsArgs, 4> {
  template <class F>
  static constexpr void operands(MatchRmsArgs& args, F&& f) {
    rows_of(f, args.in, args.width, args.target, args.width, args.out, args.width);
  }

  template <class To>
  static void describe(const file::MatchRms& op, To& to) {
    to.kind(op.out()->width());
    to.reads(op.in());
    to.reads(op.target());
    to.writes(op.out());
    to.detail("eps ", op.eps());
  }
};

inline void Binder::bind(const file::MatchRms& op, Step* step) {
  const auto [in, out] = in_out(op);
  if (status_ != MOTE_OK) return;
  const ConstRows target = rows_beside(in, op.target(), in.width, "target");
  finite(op.eps(), "eps");
  step->match_rms = {in.width, op.eps(), in.const_rows(), target, out.rows()};
  f32_step(step, Op::kMatchRms, in);
}

}  // namespace mote::ops
