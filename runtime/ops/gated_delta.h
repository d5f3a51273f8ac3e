// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/ops/operation.h"

namespace mote::ops {

struct GatedDelta : Recurrent {
  template <class F>
  static constexpr void operands(GatedDeltaArgs& args, F&& f) {
    const uint64_t heads = args.state.heads, keys = uint64_t{args.key_heads} * args.state.rows;
    const uint64_t values = heads * args.state.cols;
    rows_of(f, args.q, keys, args.k, keys, args.v, values, args.dt, heads, args.beta, heads, args.out,
            values);
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

inline void Binder::bind(const file::GatedDelta& op, Step* step) {
  const Operand out = token_step(step, Op::kGatedDelta, op.out(), "out");
  const FixedStateView state = fixed_state(op.state(), file::StateKind::recurrent);
  if (status_ != MOTE_OK) return;
  if (!check(op.key_heads() > 0 && state.heads % op.key_heads() == 0, state.heads, " heads over ",
             op.key_heads(), " of keys")) {
    return;
  }
  const uint64_t keys = uint64_t{op.key_heads()} * state.rows, values = uint64_t{state.heads} * state.cols;
  width(out, values, "out");
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
                       token_rows(op.q(), keys, "q"),
                       token_rows(op.k(), keys, "k"),
                       token_rows(op.v(), values, "v"),
                       token_rows(op.dt(), state.heads, "dt"),
                       token_rows(op.beta(), state.heads, "beta"),
                       out.rows()};
}

}  // namespace mote::ops
