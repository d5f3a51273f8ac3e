// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/ops/operation.h"

namespace mote::ops {

struct LeakyRelu : RowMap<LeakyReluArgs, 1> {
  template <class To>
  static void details(const file::LeakyRelu& op, To& to) {
    to.detail("slope ", op.slope());
  }
};

inline void Binder::bind(const file::LeakyRelu& op, Step* step) {
  const auto [in, out] = in_out(op);
  if (status_ != MOTE_OK) return;
  finite(op.slope(), "slope");
  step->leaky_relu = {in.width, op.slope(), in.const_rows(), out.rows()};
  f32_step(step, Op::kLeakyRelu, in);
}

}  // namespace mote::ops
