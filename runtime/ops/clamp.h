// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/ops/operation.h"

namespace mote::ops {

struct Clamp : RowMap<ClampArgs, 1> {
  template <class To>
  static void details(const file::Clamp& op, To& to) {
    to.detail("from ", op.least(), " to ", op.most());
  }
};

inline void Binder::bind(const file::Clamp& op, Step* step) {
  const auto [in, out] = in_out(op);
  if (status_ != MOTE_OK) return;
  finite(op.least(), "least");
  finite(op.most(), "most");
  check(op.least() <= op.most(), "least is above most");
  step->clamp = {in.width, op.least(), op.most(), in.const_rows(), out.rows()};
  f32_step(step, Op::kClamp, in);
}

}  // namespace mote::ops
