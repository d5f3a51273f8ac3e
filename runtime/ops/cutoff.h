// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/ops/operation.h"

namespace mote::ops {

struct Cutoff : RowMap<CutoffArgs, 4> {
  template <class To>
  static void details(const file::Cutoff& op, To& to) {
    to.detail(op.deviations(), " deviations above the mean");
  }
};

inline void Binder::bind(const file::Cutoff& op, Step* step) {
  const auto [in, out] = in_out(op);
  if (status_ != MOTE_OK) return;
  finite(op.deviations(), "deviations");
  step->cutoff = {in.width, op.deviations(), in.const_rows(), out.rows()};
  f32_step(step, Op::kCutoff, in);
}

}  // namespace mote::ops
