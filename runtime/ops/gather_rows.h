// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/ops/operation.h"

namespace mote {
namespace ops {

struct GatherRows : WindowRows<GatherRowsArgs> {
  template <class To>
  static void describe(const file::GatherRows& op, To& to) {
    to.kind(op.in()->width(), " x ", op.taps());
    to.reads(op.in());
    to.writes(op.out());
    to.tensor(op.table());
    to.detail(op.taps(), " rows side by side");
  }
};

}  // namespace ops

inline void Binder::bind(const file::GatherRows& op, Step* step) {
  const Operand in = f32_slice(op.in(), "in");
  const Operand out = f32_slice(op.out(), "out");
  TimeWindow window{};
  if (status_ != MOTE_OK || !time_window(in, out, op.taps(), 0, &window)) return;
  width(out, uint64_t{op.taps()} * in.width, "out");
  check(op.in()->buffer() != op.out()->buffer(), "out is in");
  const file::Tensor* table = tensor(op.table(), "table");
  if (table == nullptr) return;
  step->gather_rows = {in.width,
                       matrix(op.table(), table->rows(), op.taps(), "table"),
                       table->rows(),
                       window,
                       in_one_lane(in.const_rows()),
                       out.rows()};
  set_rows(step, out, in);
  kernel(step, Op::kGatherRows, DType::f32, DType::f32);
}

}  // namespace mote
