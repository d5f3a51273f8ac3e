// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/ops/operation.h"

namespace mote {
namespace ops {

struct Frames : WindowRows<FramesArgs> {
  template <class To>
  static void describe(const file::Frames& op, To& to) {
    to.kind(op.in()->width(), " x ", op.taps());
    to.reads(op.in());
    to.writes(op.out());
    to.detail(op.taps(), " taps, ", op.before(), " before");
    if (op.dilation() != 1) to.detail(op.dilation(), " apart");
  }
};

}  // namespace ops

inline void Binder::bind(const file::Frames& op, Step* step) {
  const Operand in = f32_slice(op.in(), "in");
  const Operand out = f32_slice(op.out(), "out");
  TimeWindow window{};
  if (status_ != MOTE_OK || !time_window(in, out, op.taps(), op.before(), &window, op.dilation())) return;
  width(out, uint64_t{op.taps()} * in.width, "out");
  check(op.in()->buffer() != op.out()->buffer(), "out is in");
  step->frames = {in.width, window, in_one_lane(in.const_rows()), out.rows()};
  set_rows(step, out, in);
  kernel(step, Op::kFrames, DType::f32, DType::f32);
}

}  // namespace mote
