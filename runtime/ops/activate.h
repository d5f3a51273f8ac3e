// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/ops/operation.h"

namespace mote {
namespace ops {

struct Activate : Operation {
  static constexpr Traits kTraits{WorkUnit::row, Reads::own_row};

  template <class F>
  static void operands(ActivateArgs& args, F&& f) {
    rows_of(f, args.in, args.width);
    rows_of(f, args.out, args.width);
  }
  static uint64_t work_per_row(const ActivateArgs& args) { return 8 * uint64_t{args.width}; }

  template <class To>
  static void describe(const file::Activate& op, To& to) {
    to.kind(file::EnumNameActivation(op.activation()), " ", op.out()->width());
    to.reads(op.in());
    to.writes(op.out());
  }
};

}  // namespace ops

inline void Binder::bind(const file::Activate& op, Step* step) {
  const Operand in = f32_slice(op.in(), "in");
  const Operand out = f32_slice(op.out(), "out");
  if (status_ != MOTE_OK) return;
  same_stream(in, out, "out");
  width(out, in.width, "out");
  check(op.activation() <= file::Activation::MAX, "unknown activation");
  step->activate = {static_cast<Activation>(op.activation()), in.width, in.const_rows(), out.rows()};
  set_rows(step, in);
  kernel(step, Op::kActivate, DType::f32, DType::f32);
}

}  // namespace mote
