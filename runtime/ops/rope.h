// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/ops/operation.h"

namespace mote::ops {

struct Rope : Operation {
  template <class F>
  static constexpr void operands(RopeArgs& args, F&& f) {
    rows_of(f, args.table, args.rotary_width, args.x, uint64_t{args.heads} * args.head_dim);
  }
  static uint64_t work_per_row(const RopeArgs& args) { return 2 * uint64_t{args.heads} * args.head_dim; }

  template <class To>
  static void describe(const file::Rope& op, To& to) {
    const char* kind = file::EnumNameRopeKind(op.kind());
    to.kind(kind, " ", op.x()->width());
    to.updates(op.x());
    to.reads(op.table());
    to.detail(kind, ", ", op.heads(), " heads");
  }
};

static_assert(static_cast<int>(file::RopeKind::MAX) == static_cast<int>(RopeKind::interleaved));

inline void Binder::bind(const file::Rope& op, Step* step) {
  const Operand table = f32_slice(op.table(), "table"), x = f32_slice(op.x(), "x");
  if (status_ != MOTE_OK) return;
  same_stream(table, x, "x");
  check(op.kind() <= file::RopeKind::MAX, "unknown kind");
  if (!check(op.heads() > 0 && x.width % op.heads() == 0, "width ", x.width, " in ", op.heads(), " heads"))
    return;
  const uint32_t head_dim = x.width / op.heads();
  check(table.width % 2 == 0 && table.width <= head_dim, "rotates ", table.width, " of ", head_dim,
        " columns");
  step->rope = {
      static_cast<RopeKind>(op.kind()), op.heads(), head_dim, table.width, table.const_rows(), x.rows()};
  f32_step(step, Op::kRope, x);
}

}  // namespace mote::ops
