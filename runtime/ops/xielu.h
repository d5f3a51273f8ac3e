// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/ops/operation.h"

namespace mote {
namespace ops {

struct Xielu : Operation {
  static constexpr Traits kTraits{WorkUnit::row, Reads::own_row};

  template <class F>
  static void operands(XieluArgs& args, F&& f) {
    rows_of(f, args.in, args.width);
    rows_of(f, args.out, args.width);
  }
  static uint64_t work_per_row(const XieluArgs& args) { return 16 * uint64_t{args.width}; }

  template <class To>
  static void describe(const file::Xielu& op, To& to) {
    to.kind(op.out()->width());
    to.reads(op.in());
    to.writes(op.out());
    to.detail("positive ", op.positive(), ", negative ", op.negative(), ", beta ", op.beta());
  }
};

}  // namespace ops

inline void Binder::bind(const file::Xielu& op, Step* step) {
  const Operand in = f32_slice(op.in(), "in");
  const Operand out = f32_slice(op.out(), "out");
  if (status_ != MOTE_OK) return;
  same_stream(in, out, "out");
  width(out, in.width, "out");
  finite(op.positive(), "positive");
  finite(op.negative(), "negative");
  finite(op.beta(), "beta");
  finite(op.eps(), "eps");
  step->xielu = {in.width, op.positive(), op.negative(), op.beta(), op.eps(), in.const_rows(), out.rows()};
  set_rows(step, in);
  kernel(step, Op::kXielu, DType::f32, DType::f32);
}

}  // namespace mote
