// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/ops/operation.h"

namespace mote::ops {

struct TimeNorm : RowMap<TimeNormArgs, 8> {
  static constexpr Traits kTraits{WorkUnit::sequence_block, Reads::tokens};

  static Extent prepare(TimeNormArgs& args, const RunRows& run, Extent extent) {
    args.first = run.first_sequence;
    return {run.sequences() * args.units_of_sequence(), extent.work};
  }

  template <class To>
  static void details(const file::TimeNorm& op, To& to) {
    to.detail(op.groups(), " groups");
    activation(op.activation(), to);
    weight_and_bias(op, to);
  }
};

inline void Binder::bind(const file::TimeNorm& op, Step* step) {
  const auto [in, out] = in_out(op);
  if (status_ != MOTE_OK) return;
  check(in.kind == file::StreamKind::group, "in is not per group");
  finite(op.eps(), "eps");
  check(op.eps() >= 0.0f, "eps is negative");
  known(op.activation());
  if (!check(op.groups() > 0 && in.width % op.groups() == 0, in.width, " columns in ", op.groups(),
             " groups"))
    return;
  step->time_norm = {in.width,
                     op.groups(),
                     op.eps(),
                     static_cast<Activation>(op.activation()),
                     vector(op.weight(), in.width, "weight"),
                     vector(op.bias(), in.width, "bias"),
                     place(in).starts,
                     0,
                     in.const_rows(),
                     out.rows()};
  f32_step(step, Op::kTimeNorm, out);
}

}  // namespace mote::ops
