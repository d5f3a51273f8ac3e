// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/ops/operation.h"

namespace mote {
namespace ops {

struct GatedDelta : Recurrent {
  template <class F>
  static void operands(GatedDeltaArgs& args, F&& f) {
    const FixedStateView& state = args.state;
    rows_of(f, args.q, uint64_t{args.key_heads} * state.rows);
    rows_of(f, args.k, uint64_t{args.key_heads} * state.rows);
    rows_of(f, args.v, uint64_t{state.heads} * state.cols);
    rows_of(f, args.dt, state.heads);
    rows_of(f, args.beta, state.heads);
    rows_of(f, args.out, uint64_t{state.heads} * state.cols);
  }
  static uint64_t work_per_row(const GatedDeltaArgs& args) {
    return 4 * uint64_t{args.state.heads} * args.state.rows * args.state.cols;
  }
  static ScratchShape scratch(const GatedDeltaArgs& args, uint32_t) {
    ScratchShape shape{};
    shape.key_dim = args.state.rows;
    shape.value_dim = args.state.cols;
    return shape;
  }

  template <class To>
  static void describe(const file::GatedDelta& op, To& to) {
    const file::State& state = to.cache(op.state());
    to.kind(state.heads(), " x ", state.rows(), " x ", state.cols());
    for (const file::Slice* slice : {op.q(), op.k(), op.v(), op.dt(), op.beta()}) to.reads(slice);
    to.from("state ", op.state());
    to.writes(op.out());
    to.detail(state.heads(), " heads, ", op.key_heads(), " of keys, scale ", op.scale());
    to.tensor(op.decay());
    to.tensor(op.dt_bias());
    to.carries(op.state(), 4 * uint64_t{state.heads()} * state.rows() * state.cols());
  }
};

}  // namespace ops

inline void Binder::bind(const file::GatedDelta& op, Step* step) {
  const Operand q = f32_slice(op.q(), "q"), k = f32_slice(op.k(), "k"), v = f32_slice(op.v(), "v"),
                dt = f32_slice(op.dt(), "dt"), beta = f32_slice(op.beta(), "beta"),
                out = f32_slice(op.out(), "out");
  const FixedStateView state = fixed_state(op.state(), file::StateKind::recurrent);
  if (status_ != MOTE_OK) return;
  if (!check(op.key_heads() > 0 && state.heads % op.key_heads() == 0, state.heads, " heads over ",
             op.key_heads(), " of keys")) {
    return;
  }
  token_columns(q, uint64_t{op.key_heads()} * state.rows, "q");
  token_columns(k, uint64_t{op.key_heads()} * state.rows, "k");
  token_columns(v, uint64_t{state.heads} * state.cols, "v");
  token_columns(dt, state.heads, "dt");
  token_columns(beta, state.heads, "beta");
  token_columns(out, v.width, "out");
  finite(op.scale(), "scale");
  check(op.eps() > 0.0f && isfinite(op.eps()), "eps is not above 0");
  step->gated_delta = {state,
                       places_.by_sequence,
                       kOneLane,
                       op.key_heads(),
                       op.scale(),
                       op.eps(),
                       vector(op.decay(), state.heads, "decay"),
                       optional_vector(op.dt_bias(), state.heads, "dt_bias"),
                       q.const_rows(),
                       k.const_rows(),
                       v.const_rows(),
                       dt.const_rows(),
                       beta.const_rows(),
                       out.rows()};
  set_rows(step, q);
  kernel(step, Op::kGatedDelta, DType::f32, DType::f32);
}

}  // namespace mote
