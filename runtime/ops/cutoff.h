// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/ops/operation.h"

namespace mote {
namespace ops {

struct Cutoff : RowMap<CutoffArgs, 4> {
  template <class To>
  static void describe(const file::Cutoff& op, To& to) {
    to.kind(op.out()->width());
    to.reads(op.in());
    to.writes(op.out());
    to.detail(op.deviations(), " deviations above the mean");
  }
};

}  // namespace ops

inline void Binder::bind(const file::Cutoff& op, Step* step) {
  const auto [in, out] = in_out(op);
  if (status_ != MOTE_OK) return;
  finite(op.deviations(), "deviations");
  step->cutoff = {in.width, op.deviations(), in.const_rows(), out.rows()};
  set_rows(step, in);
  kernel(step, Op::kCutoff, DType::f32, DType::f32);
}

}  // namespace mote
