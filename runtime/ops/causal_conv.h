// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/ops/operation.h"

namespace mote {
namespace ops {

struct CausalConv : Recurrent {
  template <class F>
  static void operands(CausalConvArgs& args, F&& f) {
    rows_of(f, args.in, args.width);
    rows_of(f, args.out, args.width);
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
    if (op.activation() != file::Activation::none) to.detail(file::EnumNameActivation(op.activation()));
    to.tensor(op.weight());
    to.tensor(op.bias());
    to.carries(op.state(), uint64_t{op.out()->width()} * taps);
  }
};

}  // namespace ops

inline void Binder::bind(const file::CausalConv& op, Step* step) {
  const Operand in = f32_slice(op.in(), "in");
  const Operand out = f32_slice(op.out(), "out");
  const FixedStateView state = fixed_state(op.state(), file::StateKind::conv_tail);
  if (status_ != MOTE_OK) return;
  of_tokens(in, "in");
  token_columns(out, in.width, "out");
  shape(state, 1, state.rows, in.width);
  const uint32_t taps = state.rows + 1;
  check(taps <= kMaxTaps, taps, " taps, at most ", kMaxTaps);
  known(op.activation());
  step->causal_conv = {state,
                       places_.by_sequence,
                       kOneLane,
                       taps,
                       in.width,
                       static_cast<Activation>(op.activation()),
                       matrix(op.weight(), taps, in.width, "weight"),
                       optional_vector(op.bias(), in.width, "bias"),
                       in.const_rows(),
                       out.rows()};
  set_rows(step, in);
  kernel(step, Op::kCausalConv, DType::f32, DType::f32);
}

}  // namespace mote
