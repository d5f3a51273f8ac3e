// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/ops/operation.h"

namespace mote {
namespace ops {

struct LeakyRelu : RowMap<LeakyReluArgs, 1> {
  template <class To>
  static void describe(const file::LeakyRelu& op, To& to) {
    to.kind(op.out()->width());
    to.reads(op.in());
    to.writes(op.out());
    to.detail("slope ", op.slope());
  }
};

}  // namespace ops

inline void Binder::bind(const file::LeakyRelu& op, Step* step) {
  const auto [in, out] = in_out(op);
  if (status_ != MOTE_OK) return;
  finite(op.slope(), "slope");
  step->leaky_relu = {in.width, op.slope(), in.const_rows(), out.rows()};
  set_rows(step, in);
  kernel(step, Op::kLeakyRelu, DType::f32, DType::f32);
}

}  // namespace mote
