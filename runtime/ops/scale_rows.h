// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/ops/operation.h"

namespace mote {
namespace ops {

struct ScaleRows : RowMap<ScaleRowsArgs, 1> {
  template <class F>
  static void operands(ScaleRowsArgs& args, F&& f) {
    RowMap::operands(args, f);
    rows_of(f, args.residual, args.width);
  }

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
  const auto [in, out] = in_out(op);
  Operand residual{};
  if (op.residual() != nullptr) residual = f32_slice(op.residual(), "residual");
  if (status_ != MOTE_OK) return;
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
