// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/ops/operation.h"

namespace mote::ops {

struct CausalConv : Recurrent {
  template <class F>
  static constexpr void operands(CausalConvArgs& args, F&& f) {
    rows_of(f, args.in, args.width, args.out, args.width);
  }
  static uint64_t work_per_row(const CausalConvArgs& args) { return uint64_t{args.width} * args.taps; }

  template <class To>
  static void describe(const file::CausalConv& op, To& to) {
    const uint32_t taps = to.cache(op.state()).rows() + 1;
    to.kind(op.out()->width(), " x ", taps);
    to.reads(op.in());
    to.from("state ", op.state());
    to.writes(op.out());
    to.detail(taps, " taps");
    activation(op.activation(), to);
    weight_and_bias(op, to);
    to.carries(op.state(), uint64_t{op.out()->width()} * taps);
  }
};

inline void Binder::bind(const file::CausalConv& op, Step* step) {
  const Operand in = token_step(step, Op::kCausalConv, op.in(), "in"), out = f32_slice(op.out(), "out");
  const FixedStateView state = fixed_state(op.state(), file::StateKind::conv_tail);
  if (status_ != MOTE_OK) return;
  token_columns(out, in.width, "out");
  shape(state, 1, state.rows, in.width);
  const uint32_t taps = state.rows + 1;
  check(taps <= kMaxTaps, taps, " taps, at most ", kMaxTaps);
  known(op.activation());
  step->causal_conv = {state,
                       places_.by_sequence,
                       kOneLane,
                       taps,
                       out.width,
                       static_cast<Activation>(op.activation()),
                       matrix(op.weight(), taps, out.width, "weight"),
                       optional_vector(op.bias(), out.width, "bias"),
                       in.const_rows(),
                       out.rows()};
}

}  // namespace mote::ops
