// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/ops/operation.h"

namespace mote::ops {

struct RopeTable : Operation {
  template <class F>
  static constexpr void operands(RopeTableArgs& args, F&& f) {
    rows_of(f, args.out, args.rotary_width, args.shifts, args.rotary_width / 2);
  }
  static uint64_t work_per_row(const RopeTableArgs& args) { return 20 * uint64_t{args.rotary_width}; }

  template <class To>
  static void describe(const file::RopeTable& op, To& to) {
    to.kind(op.out()->width());
    to.from("positions");
    if (op.shifts() != nullptr) to.reads(op.shifts());
    to.writes(op.out());
    to.tensor(op.frequencies());
    if (op.scale() != 1.0f) to.detail("scale ", op.scale());
    if (op.growth() != 0.0f) to.detail("grows by ", op.growth(), " from ", op.growth_every());
  }
};

inline void Binder::bind(const file::RopeTable& op, Step* step) {
  const Operand out = f32_slice(op.out(), "out");
  if (status_ != MOTE_OK) return;
  of_positions(out, "out");
  finite(op.scale(), "scale");
  check(out.width % 2 == 0, "odd width ", out.width);
  finite(op.growth(), "growth");
  check(op.growth_every() > 0, "the scale grows every 0 positions");
  step->rope_table = {vector(op.frequencies(), out.width / 2, "frequencies"),
                      out.width,
                      op.scale(),
                      op.growth(),
                      op.growth_every(),
                      place(out).positions,
                      out.rows(),
                      optional_rows(out, op.shifts(), out.width / 2, "shifts")};
  f32_step(step, Op::kRopeTable, out);
}

}  // namespace mote::ops
