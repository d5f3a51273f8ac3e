// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/ops/operation.h"

namespace mote::ops {

struct Input : Writer<InputArgs, &InputArgs::out> {
  template <class To>
  static void describe(const file::Input& op, To& to) {
    to.from("the caller's floats");
    to.kind(op.out()->width());
    to.writes(op.out());
  }
};

inline void Binder::bind(const file::Input& op, Step* step) {
  const Operand out = f32_slice(op.out(), "out");
  if (status_ != MOTE_OK) return;
  of_tokens(out, "out");
  step->input = {out.width, places_.inputs, out.rows()};
  f32_step(step, Op::kInput, out);
}

}  // namespace mote::ops
