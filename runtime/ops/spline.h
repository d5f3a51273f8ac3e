// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/ops/operation.h"

namespace mote::ops {

struct Spline : Operation {
  template <class F>
  static constexpr void operands(SplineArgs& args, F&& f) {
    rows_of(f, args.in, 1u, args.curve, 3 * uint64_t{args.bins} - 1, args.out, 1u);
  }
  static uint64_t work_per_row(const SplineArgs& args) { return 32 * uint64_t{args.bins}; }

  template <class To>
  static void describe(const file::Spline& op, To& to) {
    to.kind(op.bins(), " bins");
    to.reads(op.in());
    to.reads(op.curve());
    to.writes(op.out());
    to.detail("within ", op.bound());
  }
};

inline void Binder::bind(const file::Spline& op, Step* step) {
  const auto [in, out] = in_out(op);
  if (status_ != MOTE_OK) return;
  check(op.bins() >= 2 && op.bins() <= kMaxBins, op.bins(), " bins");
  width(in, 1, "in");
  const ConstRows curve = rows_beside(in, op.curve(), 3 * uint64_t{op.bins()} - 1, "curve");
  if (status_ != MOTE_OK) return;
  finite(op.bound(), "bound");
  check(op.bound() > 0.0f, "the bound is not positive");
  step->spline = {op.bins(), op.bound(), in.const_rows(), curve, out.rows()};
  f32_step(step, Op::kSpline, in);
}

}  // namespace mote::ops
