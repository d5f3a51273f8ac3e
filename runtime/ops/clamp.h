// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/ops/operation.h"

namespace mote {
namespace ops {

struct Clamp : Operation {
  static constexpr Traits kTraits{WorkUnit::row, Reads::own_row};

  template <class F>
  static void operands(ClampArgs& args, F&& f) {
    rows_of(f, args.in, args.width);
    rows_of(f, args.out, args.width);
  }
  static uint64_t work_per_row(const ClampArgs& args) { return uint64_t{args.width}; }

  template <class To>
  static void describe(const file::Clamp& op, To& to) {
    to.kind(op.out()->width());
    to.reads(op.in());
    to.writes(op.out());
    to.detail("from ", op.least(), " to ", op.most());
  }
};

}  // namespace ops

inline void Binder::bind(const file::Clamp& op, Step* step) {
  const Operand in = f32_slice(op.in(), "in");
  const Operand out = f32_slice(op.out(), "out");
  if (status_ != MOTE_OK) return;
  same_stream(in, out, "out");
  width(out, in.width, "out");
  finite(op.least(), "least");
  finite(op.most(), "most");
  check(op.least() <= op.most(), "least is above most");
  step->clamp = {in.width, op.least(), op.most(), in.const_rows(), out.rows()};
  set_rows(step, in);
  kernel(step, Op::kClamp, DType::f32, DType::f32);
}

}  // namespace mote
