// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/ops/operation.h"

namespace mote::ops {

struct RecurrentCell : Recurrent {
  template <class F>
  static constexpr void operands(RecurrentCellArgs& args, F&& f) {
    const uint64_t cols = args.state.cols;
    rows_of(f, args.in, gates_of(args.kind) * cols, args.out, cols);
  }
  static uint64_t work_per_row(const RecurrentCellArgs& args) {
    return uint64_t{gates_of(args.kind)} * args.state.cols * args.state.cols;
  }
  static ScratchShape scratch(const RecurrentCellArgs& args, uint32_t) {
    ScratchShape shape{};
    shape.value_dim = gates_of(args.kind) * args.state.cols;
    return shape;
  }

  template <class To>
  static void describe(const file::RecurrentCell& op, To& to) {
    const file::State& state = to.cache(op.state());
    to.kind(file::EnumNameCellKind(op.kind()), " ", state.cols());
    to.reads(op.in());
    to.from("state ", op.state());
    to.writes(op.out());
    to.detail(file::EnumNameCellKind(op.kind()));
    weight_and_bias(op, to);
    to.carries(op.state(), uint64_t{op.in()->width()} * state.cols());
  }
};

static_assert(static_cast<int>(file::CellKind::MAX) == static_cast<int>(CellKind::gru));

inline void Binder::bind(const file::RecurrentCell& op, Step* step) {
  const Operand out = token_step(step, Op::kRecurrentCell, op.out(), "out");
  const FixedStateView state = fixed_state(op.state(), file::StateKind::recurrent);
  if (status_ != MOTE_OK) return;
  if (!check(op.kind() <= file::CellKind::MAX, "unknown kind")) return;
  const auto kind = static_cast<CellKind>(op.kind());
  shape(state, 1, kind == CellKind::lstm ? 2 : 1, out.width);
  const uint32_t width = gates_of(kind) * out.width;
  step->recurrent_cell = {state,
                          places_.by_sequence,
                          kOneLane,
                          kind,
                          matrix(op.weight(), out.width, width, "weight"),
                          optional_vector(op.bias(), width, "bias"),
                          token_rows(op.in(), width, "in"),
                          out.rows()};
}

}  // namespace mote::ops
