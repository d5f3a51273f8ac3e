// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/ops/operation.h"

namespace mote::ops {

struct Sines : Writer<SinesArgs, &SinesArgs::x> {
  static uint64_t work_per_row(const SinesArgs& args) { return 20 * uint64_t{args.width}; }

  template <class To>
  static void describe(const file::Sines& op, To& to) {
    to.kind(op.x()->width());
    to.from("positions");
    to.updates(op.x());
    to.tensor(op.frequencies());
    if (op.halves()) to.detail("sines before cosines");
  }
};

inline void Binder::bind(const file::Sines& op, Step* step) {
  const Operand x = f32_slice(op.x(), "x");
  if (status_ != MOTE_OK) return;
  of_positions(x, "x");
  check(x.width % 2 == 0, "odd width ", x.width);
  step->sines = {vector(op.frequencies(), x.width / 2, "frequencies"), x.width, op.halves(),
                 place(x).positions, x.rows()};
  f32_step(step, Op::kSines, x);
}

}  // namespace mote::ops
