// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/ops/operation.h"

namespace mote {
namespace ops {

struct RecurrentCell : Recurrent {
  template <class F>
  static void operands(RecurrentCellArgs& args, F&& f) {
    rows_of(f, args.in, uint64_t{gates_of(args.kind)} * args.state.cols);
    rows_of(f, args.out, args.state.cols);
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
    to.tensor(op.weight());
    to.tensor(op.bias());
    to.carries(op.state(), uint64_t{op.in()->width()} * state.cols());
  }
};

}  // namespace ops

static_assert(static_cast<int>(file::CellKind::MAX) == static_cast<int>(CellKind::gru));

inline void Binder::bind(const file::RecurrentCell& op, Step* step) {
  const Operand in = f32_slice(op.in(), "in"), out = f32_slice(op.out(), "out");
  const FixedStateView state = fixed_state(op.state(), file::StateKind::recurrent);
  if (status_ != MOTE_OK) return;
  if (!check(op.kind() <= file::CellKind::MAX, "unknown kind")) return;
  const auto kind = static_cast<CellKind>(op.kind());
  token_columns(out, out.width, "out");
  shape(state, 1, kind == CellKind::lstm ? 2 : 1, out.width);
  const uint64_t width = uint64_t{gates_of(kind)} * out.width;
  token_columns(in, width, "in");
  if (status_ != MOTE_OK) return;
  step->recurrent_cell = {state,
                          places_.by_sequence,
                          kOneLane,
                          kind,
                          matrix(op.weight(), out.width, in.width, "weight"),
                          optional_vector(op.bias(), in.width, "bias"),
                          in.const_rows(),
                          out.rows()};
  set_rows(step, out);
  kernel(step, Op::kRecurrentCell, DType::f32, DType::f32);
}

}  // namespace mote
