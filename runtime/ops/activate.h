// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/ops/operation.h"

namespace mote {
namespace ops {

struct Activate : RowMap<ActivateArgs, 8> {
  template <class To>
  static void describe(const file::Activate& op, To& to) {
    to.kind(file::EnumNameActivation(op.activation()), " ", op.out()->width());
    to.reads(op.in());
    to.writes(op.out());
  }
};

}  // namespace ops

inline void Binder::bind(const file::Activate& op, Step* step) {
  const auto [in, out] = in_out(op);
  if (status_ != MOTE_OK) return;
  known(op.activation());
  step->activate = {static_cast<Activation>(op.activation()), in.width, in.const_rows(), out.rows()};
  set_rows(step, in);
  kernel(step, Op::kActivate, DType::f32, DType::f32);
}

}  // namespace mote
