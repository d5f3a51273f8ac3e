// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/ops/operation.h"

namespace mote {
namespace ops {

struct SsmScan : Recurrent {
  template <class F>
  static void operands(SsmScanArgs& args, F&& f) {
    const FixedStateView& state = args.state;
    rows_of(f, args.x, uint64_t{state.heads} * state.cols);
    rows_of(f, args.dt, state.heads);
    rows_of(f, args.b, uint64_t{args.groups} * state.rows);
    rows_of(f, args.c, uint64_t{args.groups} * state.rows);
    rows_of(f, args.out, uint64_t{state.heads} * state.cols);
  }
  static uint64_t work_per_row(const SsmScanArgs& args) {
    return 3 * uint64_t{args.state.heads} * args.state.rows * args.state.cols;
  }

  template <class To>
  static void describe(const file::SsmScan& op, To& to) {
    const file::State& state = to.cache(op.state());
    to.kind(state.heads(), " x ", state.rows(), " x ", state.cols());
    for (const file::Slice* slice : {op.x(), op.dt(), op.b(), op.c()}) to.reads(slice);
    to.from("state ", op.state());
    to.writes(op.out());
    to.detail(state.heads(), " heads, ", op.groups(), " groups");
    for (const int32_t tensor : {op.decay(), op.dt_bias(), op.skip()}) to.tensor(tensor);
    to.carries(op.state(), 3 * uint64_t{state.heads()} * state.rows() * state.cols());
  }
};

}  // namespace ops

inline void Binder::bind(const file::SsmScan& op, Step* step) {
  const Operand x = f32_slice(op.x(), "x"), dt = f32_slice(op.dt(), "dt"), b = f32_slice(op.b(), "b"),
                c = f32_slice(op.c(), "c"), out = f32_slice(op.out(), "out");
  const FixedStateView state = fixed_state(op.state(), file::StateKind::recurrent);
  if (status_ != MOTE_OK) return;
  if (!check(op.groups() > 0 && state.heads % op.groups() == 0, state.heads, " heads over ", op.groups(),
             " groups")) {
    return;
  }
  token_columns(x, uint64_t{state.heads} * state.cols, "x");
  token_columns(dt, state.heads, "dt");
  token_columns(b, uint64_t{op.groups()} * state.rows, "b");
  token_columns(c, uint64_t{op.groups()} * state.rows, "c");
  token_columns(out, x.width, "out");
  check(op.dt_min() <= op.dt_max(), "dt_min is above dt_max");
  step->ssm_scan = {state,
                    places_.by_sequence,
                    kOneLane,
                    op.groups(),
                    op.dt_min(),
                    op.dt_max(),
                    vector(op.decay(), state.heads, "decay"),
                    optional_vector(op.dt_bias(), state.heads, "dt_bias"),
                    optional_vector(op.skip(), state.heads, "skip"),
                    x.const_rows(),
                    dt.const_rows(),
                    b.const_rows(),
                    c.const_rows(),
                    out.rows()};
  set_rows(step, x);
  kernel(step, Op::kSsmScan, DType::f32, DType::f32);
}

}  // namespace mote
