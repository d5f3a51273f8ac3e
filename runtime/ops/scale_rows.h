// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/ops/operation.h"

namespace mote {
namespace ops {

struct ScaleRows : Operation {
  static constexpr Traits kTraits{WorkUnit::row, Reads::own_row};

  template <class F>
  static void operands(ScaleRowsArgs& args, F&& f) {
    rows_of(f, args.in, args.width);
    rows_of(f, args.residual, args.width);
    rows_of(f, args.out, args.width);
  }
  static uint64_t work_per_row(const ScaleRowsArgs& args) { return args.width; }

  template <class To>
  static void describe(const file::ScaleRows& op, To& to) {
    to.kind(op.out()->width());
    to.reads(op.in());
    to.writes(op.out());
    to.tensor(op.scale());
    if (op.scale() == -1) to.detail("factor ", op.factor());
    to.adds(op.residual());
  }
};

}  // namespace ops

inline void Binder::bind(const file::ScaleRows& op, Step* step) {
  const Operand in = f32_slice(op.in(), "in");
  const Operand out = f32_slice(op.out(), "out");
  Operand residual{};
  if (op.residual() != nullptr) residual = f32_slice(op.residual(), "residual");
  if (status_ != MOTE_OK) return;
  same_stream(in, out, "out");
  width(out, in.width, "out");
  if (op.residual() != nullptr) {
    same_stream(in, residual, "residual");
    width(residual, in.width, "residual");
  }
  finite(op.factor(), "factor");
  check(op.scale() == -1 || op.factor() == 1.0f, "has a scale and a factor");
  step->scale_rows = {in.width,
                      optional_vector(op.scale(), in.width, "scale"),
                      op.factor(),
                      in.const_rows(),
                      residual.const_rows(),
                      out.rows()};
  if (op.residual() == nullptr) step->scale_rows.residual = {nullptr, 0};
  set_rows(step, in);
  kernel(step, Op::kScaleRows, DType::f32, DType::f32);
}

}  // namespace mote
