// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/ops/operation.h"

namespace mote::ops {

struct SsmScan : Recurrent {
  template <class F>
  static constexpr void operands(SsmScanArgs& args, F&& f) {
    const uint64_t heads = args.state.heads, cols = heads * args.state.cols;
    const uint64_t of_groups = uint64_t{args.groups} * args.state.rows;
    rows_of(f, args.x, cols, args.dt, heads, args.b, of_groups, args.c, of_groups, args.out, cols);
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

inline void Binder::bind(const file::SsmScan& op, Step* step) {
  const Operand x = token_step(step, Op::kSsmScan, op.x(), "x"), out = f32_slice(op.out(), "out");
  const FixedStateView state = fixed_state(op.state(), file::StateKind::recurrent);
  if (status_ != MOTE_OK) return;
  if (!check(op.groups() > 0 && state.heads % op.groups() == 0, state.heads, " heads over ", op.groups(),
             " groups")) {
    return;
  }
  width(x, uint64_t{state.heads} * state.cols, "x");
  token_columns(out, x.width, "out");
  const uint64_t of_groups = uint64_t{op.groups()} * state.rows;
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
                    token_rows(op.dt(), state.heads, "dt"),
                    token_rows(op.b(), of_groups, "b"),
                    token_rows(op.c(), of_groups, "c"),
                    out.rows()};
}

}  // namespace mote::ops
