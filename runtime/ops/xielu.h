// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/ops/operation.h"

namespace mote::ops {

struct Xielu : RowMap<XieluArgs, 16> {
  template <class To>
  static void details(const file::Xielu& op, To& to) {
    to.detail("positive ", op.positive(), ", negative ", op.negative(), ", beta ", op.beta());
  }
};

inline void Binder::bind(const file::Xielu& op, Step* step) {
  const auto [in, out] = in_out(op);
  if (status_ != MOTE_OK) return;
  finite(op.positive(), "positive");
  finite(op.negative(), "negative");
  finite(op.beta(), "beta");
  finite(op.eps(), "eps");
  step->xielu = {in.width, op.positive(), op.negative(), op.beta(), op.eps(), in.const_rows(), out.rows()};
  f32_step(step, Op::kXielu, in);
}

}  // namespace mote::ops
