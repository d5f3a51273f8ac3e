// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/ops/operation.h"

namespace mote::ops {

struct Activate : RowMap<ActivateArgs, 8> {
  template <class To>
  static void describe(const file::Activate& op, To& to) {
    to.kind(file::EnumNameActivation(op.activation()), " ", op.out()->width());
    in_to_out(op, to);
  }
};

inline void Binder::bind(const file::Activate& op, Step* step) {
  const auto [in, out] = in_out(op);
  if (status_ != MOTE_OK) return;
  known(op.activation());
  step->activate = {static_cast<Activation>(op.activation()), in.width, in.const_rows(), out.rows()};
  f32_step(step, Op::kActivate, in);
}

}  // namespace mote::ops
