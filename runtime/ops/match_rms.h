// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/ops/operation.h"

namespace mote {
namespace ops {

struct MatchRms : RowMap<MatchRmsArgs, 4> {
  template <class F>
  static void operands(MatchRmsArgs& args, F&& f) {
    RowMap::operands(args, f);
    rows_of(f, args.target, args.width);
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

}  // namespace ops

inline void Binder::bind(const file::MatchRms& op, Step* step) {
  const auto [in, out] = in_out(op);
  const Operand target = f32_slice(op.target(), "target");
  if (status_ != MOTE_OK) return;
  same_stream(in, target, "target");
  width(target, in.width, "target");
  finite(op.eps(), "eps");
  step->match_rms = {in.width, op.eps(), in.const_rows(), target.const_rows(), out.rows()};
  set_rows(step, in);
  kernel(step, Op::kMatchRms, DType::f32, DType::f32);
}

}  // namespace mote
