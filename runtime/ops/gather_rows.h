// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/ops/operation.h"

namespace mote::ops {

struct GatherRows : WindowRows<GatherRowsArgs> {
  template <class To>
  static void details(const file::GatherRows& op, To& to) {
    to.tensor(op.table());
    to.detail(op.taps(), " rows side by side");
  }
};

inline void Binder::bind(const file::GatherRows& op, Step* step) {
  TimeWindow window{};
  const auto [in, out] = window_rows(op, 0, &window);
  const file::Tensor* table = tensor(op.table(), "table");
  if (table == nullptr) return;
  step->gather_rows = {in.width,
                       matrix(op.table(), table->rows(), op.taps(), "table"),
                       table->rows(),
                       window,
                       in_one_lane(in.const_rows()),
                       out.rows()};
  f32_step(step, Op::kGatherRows, out, in);
}

}  // namespace mote::ops
