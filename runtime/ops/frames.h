// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/ops/operation.h"

namespace mote::ops {

struct Frames : WindowRows<FramesArgs> {
  template <class To>
  static void details(const file::Frames& op, To& to) {
    to.detail(op.taps(), " taps, ", op.before(), " before");
  }
};

inline void Binder::bind(const file::Frames& op, Step* step) {
  TimeWindow window{};
  const auto [in, out] = window_rows(op, op.before(), &window);
  step->frames = {in.width, window, in_one_lane(in.const_rows()), out.rows()};
  f32_step(step, Op::kFrames, out, in);
}

}  // namespace mote::ops
