// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/ops/operation.h"

namespace mote {
namespace ops {

struct Xielu : RowMap<XieluArgs, 16> {
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
  const auto [in, out] = in_out(op);
  if (status_ != MOTE_OK) return;
  finite(op.positive(), "positive");
  finite(op.negative(), "negative");
  finite(op.beta(), "beta");
  finite(op.eps(), "eps");
  step->xielu = {in.width, op.positive(), op.negative(), op.beta(), op.eps(), in.const_rows(), out.rows()};
  set_rows(step, in);
  kernel(step, Op::kXielu, DType::f32, DType::f32);
}

}  // namespace mote
