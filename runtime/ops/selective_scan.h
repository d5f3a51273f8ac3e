// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/ops/operation.h"

namespace mote::ops {

struct SelectiveScan : Recurrent {
  template <class F>
  static constexpr void operands(SelectiveScanArgs& args, F&& f) {
    const uint64_t rows = args.state.rows, cols = args.state.cols;
    rows_of(f, args.x, cols, args.dt, cols, args.b, rows, args.c, rows, args.out, cols);
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

inline void Binder::bind(const file::SelectiveScan& op, Step* step) {
  const Operand out = token_step(step, Op::kSelectiveScan, op.out(), "out");
  const FixedStateView state = fixed_state(op.state(), file::StateKind::recurrent);
  if (status_ != MOTE_OK) return;
  shape(state, 1, state.rows, out.width);
  step->selective_scan = {state,
                          places_.by_sequence,
                          kOneLane,
                          matrix(op.decay(), state.rows, state.cols, "decay"),
                          optional_vector(op.dt_bias(), state.cols, "dt_bias"),
                          optional_vector(op.skip(), state.cols, "skip"),
                          token_rows(op.x(), state.cols, "x"),
                          token_rows(op.dt(), state.cols, "dt"),
                          token_rows(op.b(), state.rows, "b"),
                          token_rows(op.c(), state.rows, "c"),
                          out.rows()};
}

}  // namespace mote::ops
