// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/ops/operation.h"

namespace mote {
namespace ops {

struct SelectiveScan : Recurrent {
  template <class F>
  static void operands(SelectiveScanArgs& args, F&& f) {
    rows_of(f, args.x, args.state.cols);
    rows_of(f, args.dt, args.state.cols);
    rows_of(f, args.b, args.state.rows);
    rows_of(f, args.c, args.state.rows);
    rows_of(f, args.out, args.state.cols);
  }
  static uint64_t work_per_row(const SelectiveScanArgs& args) {
    return 16 * uint64_t{args.state.rows} * args.state.cols;  // an exponential each
  }

  template <class To>
  static void describe(const file::SelectiveScan& op, To& to) {
    const file::State& state = to.cache(op.state());
    to.kind(state.rows(), " x ", state.cols());
    for (const file::Slice* slice : {op.x(), op.dt(), op.b(), op.c()}) to.reads(slice);
    to.from("state ", op.state());
    to.writes(op.out());
    for (const int32_t tensor : {op.decay(), op.dt_bias(), op.skip()}) to.tensor(tensor);
    to.carries(op.state(), 3 * uint64_t{state.rows()} * state.cols());
  }
};

}  // namespace ops

inline void Binder::bind(const file::SelectiveScan& op, Step* step) {
  const Operand x = f32_slice(op.x(), "x"), dt = f32_slice(op.dt(), "dt"), b = f32_slice(op.b(), "b"),
                c = f32_slice(op.c(), "c"), out = f32_slice(op.out(), "out");
  const FixedStateView state = fixed_state(op.state(), file::StateKind::recurrent);
  if (status_ != MOTE_OK) return;
  of_tokens(x, "x");
  shape(state, 1, state.rows, x.width);
  token_columns(dt, state.cols, "dt");
  token_columns(b, state.rows, "b");
  token_columns(c, state.rows, "c");
  token_columns(out, state.cols, "out");
  step->selective_scan = {state,
                          places_.by_sequence,
                          kOneLane,
                          matrix(op.decay(), state.rows, state.cols, "decay"),
                          optional_vector(op.dt_bias(), state.cols, "dt_bias"),
                          optional_vector(op.skip(), state.cols, "skip"),
                          x.const_rows(),
                          dt.const_rows(),
                          b.const_rows(),
                          c.const_rows(),
                          out.rows()};
  set_rows(step, x);
  kernel(step, Op::kSelectiveScan, DType::f32, DType::f32);
}

}  // namespace mote
