// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/ops/operation.h"

namespace mote::ops {

struct ScaleRows : RowMap<ScaleRowsArgs, 1> {
  template <class F>
  static constexpr void operands(ScaleRowsArgs& args, F&& f) {
    RowMap::operands(args, f);
    rows_of(f, args.residual, args.width);
  }

  template <class To>
  static void details(const file::ScaleRows& op, To& to) {
    to.tensor(op.scale());
    if (op.scale() == -1) to.detail("factor ", op.factor());
    to.adds(op.residual());
  }
};

inline void Binder::bind(const file::ScaleRows& op, Step* step) {
  const auto [in, out] = in_out(op);
  if (status_ != MOTE_OK) return;
  finite(op.factor(), "factor");
  check(op.scale() == -1 || op.factor() == 1.0f, "has a scale and a factor");
  step->scale_rows = {in.width,        optional_vector(op.scale(), in.width, "scale"),         op.factor(),
                      in.const_rows(), optional_rows(in, op.residual(), in.width, "residual"), out.rows()};
  f32_step(step, Op::kScaleRows, in);
}

}  // namespace mote::ops
