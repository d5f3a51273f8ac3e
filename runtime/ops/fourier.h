// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/ops/operation.h"

namespace mote {
namespace ops {

struct Fourier : Operation {
  static constexpr Traits kTraits{WorkUnit::row, Reads::tokens};

  template <class F>
  static void operands(FourierArgs& args, F&& f) {
    rows_of(f, args.out, args.width);
  }
  static uint64_t work_per_row(const FourierArgs& args) { return args.width; }

  static Extent prepare(FourierArgs& args, const RunRows& run, Extent extent) {
    args.in = run.in_lanes(args.in.first_lane);
    return {extent.units, extent.work * 2 * (run.last_position + 1)};
  }

  template <class To>
  static void describe(const file::Fourier& op, To& to) {
    to.kind(op.out()->width());
    to.reads(op.in());
    to.writes(op.out());
  }
};

}  // namespace ops

inline void Binder::bind(const file::Fourier& op, Step* step) {
  const Operand in = f32_slice(op.in(), "in");
  const Operand out = f32_slice(op.out(), "out");
  if (status_ != MOTE_OK) return;
  check(is_whole(*places_.program), "a transform is of whole sequences");
  of_positions(out, "out");
  same_stream(in, out, "out");
  width(in, 2 * uint64_t{out.width}, "in");
  check(op.in()->buffer() != op.out()->buffer(), "out is in");
  if (status_ != MOTE_OK) return;
  const StreamPlace& rows = place(out);
  step->fourier = {out.width, rows.positions, rows.last_seen, in_one_lane(in.const_rows()), out.rows()};
  set_rows(step, out);
  kernel(step, Op::kFourier, DType::f32, DType::f32);
}

}  // namespace mote
