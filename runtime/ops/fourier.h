// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/ops/operation.h"

namespace mote::ops {

struct Fourier : FromNeighbours<FourierArgs> {
  static Extent prepare(FourierArgs& args, const RunRows& run, Extent extent) {
    FromNeighbours::prepare(args, run, extent);
    return {extent.units, extent.work * 2 * (run.last_position + 1)};
  }
};

inline void Binder::bind(const file::Fourier& op, Step* step) {
  const auto [in, out] = slices(op);
  if (status_ != MOTE_OK) return;
  check(is_whole(*places_.program), "a transform is of whole sequences");
  of_positions(out, "out");
  same_stream(in, out, "out");
  width(in, 2 * uint64_t{out.width}, "in");
  apart(op);
  if (status_ != MOTE_OK) return;
  const StreamPlace& rows = place(out);
  step->fourier = {out.width, rows.positions, rows.last_seen, in_one_lane(in.const_rows()), out.rows()};
  f32_step(step, Op::kFourier, out);
}

}  // namespace mote::ops
