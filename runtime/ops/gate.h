// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/ops/operation.h"

namespace mote::ops {

struct Gate : Operation {
  template <class F>
  static constexpr void operands(GateArgs& args, F&& f) {
    rows_of(f, args.gate, args.gates, args.up, args.width, args.out, args.width);
  }
  static uint64_t work_per_row(const GateArgs& args) { return 8 * uint64_t{args.width}; }

  template <class To>
  static void describe(const file::Gate& op, To& to) {
    to.kind(file::EnumNameActivation(op.activation()), " ", op.out()->width());
    to.reads(op.gate());
    to.reads(op.up());
    to.writes(op.out());
    activation(op.activation(), to);
  }
};

inline void Binder::bind(const file::Gate& op, Step* step) {
  const Operand gate = f32_slice(op.gate(), "gate");
  const Operand up = f32_slice(op.up(), "up");
  const Operand out = f32_slice(op.out(), "out");
  if (status_ != MOTE_OK) return;
  same_stream(gate, up, "up");
  same_stream(gate, out, "out");
  width(out, up.width, "out");
  if (!check(gate.width > 0 && up.width % gate.width == 0, "up has ", up.width, " columns for ", gate.width,
             " gates"))
    return;
  known(op.activation());
  step->gate = {static_cast<Activation>(op.activation()),
                up.width,
                gate.width,
                gate.const_rows(),
                up.const_rows(),
                out.rows()};
  f32_step(step, Op::kGate, gate);
}

}  // namespace mote::ops
