// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/ops/operation.h"

namespace mote::ops {

struct SplitRows : OverGrid<SplitRowsArgs> {
  template <class To>
  static void details(const file::SplitRows& op, To& to) {
    if (op.columns() != 0) to.detail("lines of ", op.columns());
    if (op.of_grid()) to.detail("of any size");
  }
};

inline void Binder::bind(const file::SplitRows& op, Step* step) {
  const auto [in, out] = slices(op);
  if (status_ != MOTE_OK) return;
  const file::Stream* stream = places_.program->streams()->Get(out.stream);
  if (!check(out.kind == file::StreamKind::group && stream->of() == in.stream && stream->parts() != 1,
             "out has no rows for parts of rows of in"))
    return;
  const uint32_t parts = stream->parts();
  width(in, uint64_t{parts} * out.width, "in");
  uint32_t side = 0;
  while (op.columns() != 0 && side * side < parts) ++side;
  check(op.columns() <= kMaxContext && (op.columns() == 0 || side * side == parts), parts,
        " parts are no square, or lines of ", op.columns(), " are too long");
  of_any_size(op.of_grid());
  check(!op.of_grid() || op.columns() != 0, "pictures without lines");
  step->split_rows = {out.width,
                      parts,
                      op.columns(),
                      side,
                      {place(in).starts, place(out).starts, 0, op.of_grid() ? places_.grids : nullptr},
                      place(out).firsts,
                      place(out).positions,
                      place(in).last_seen,
                      in_one_lane(in.const_rows()),
                      out.rows()};
  f32_step(step, Op::kSplitRows, out, in);
}

}  // namespace mote::ops
