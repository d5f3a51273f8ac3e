// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/ops/operation.h"

namespace mote::ops {

struct Positions : Writer<PositionsArgs, &PositionsArgs::x> {
  template <class To>
  static void describe(const file::Positions& op, To& to) {
    to.kind(to.type(op.table()), " ", op.x()->width());
    op.replaces() ? to.writes(op.x()) : to.updates(op.x());
    if (op.index() != file::RowIndex::position) to.detail(file::EnumNameRowIndex(op.index()));
    to.table(op.table());
  }
};

inline void Binder::bind(const file::Positions& op, Step* step) {
  const Operand x = f32_slice(op.x(), "x");
  const file::Tensor* table = this->table(op.table(), x, "x");
  if (status_ != MOTE_OK) return;
  of_positions(x, "x");
  const DType dtype = static_cast<DType>(table->dtype());
  check(table->packing() == file::Packing::rows, "table is not row-major");
  check(activation_dtype(dtype) == DType::f32, "table is quantized");
  step->positions = {data(table), table->cols(), index(op.index(), table, x), x.rows(), op.replaces()};
  set_rows(step, x);
  kernel(step, Op::kPositions, DType::f32, dtype);
}

}  // namespace mote::ops
