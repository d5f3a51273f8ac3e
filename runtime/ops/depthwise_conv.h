// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/ops/operation.h"

namespace mote::ops {

struct DepthwiseConv : FromNeighbours<DepthwiseConvArgs> {
  static uint64_t work_per_row(const DepthwiseConvArgs& args) {
    return out_width(args) * args.window.taps * args.reach;
  }

  template <class To>
  static void describe(const file::DepthwiseConv& op, To& to) {
    to.kind(op.out()->width(), " x ", op.taps() * op.reach());
    in_to_out(op, to);
    to.detail(op.taps(), " x ", op.reach(), " taps");
    activation(op.activation(), to);
    weight_and_bias(op, to);
  }
};

inline void Binder::bind(const file::DepthwiseConv& op, Step* step) {
  const auto [in, out] = slices(op);
  TimeWindow window{};
  if (status_ != MOTE_OK || !time_window(in, out, op.taps(), op.before(), &window)) return;
  const uint32_t channels = op.channels(), reach = op.reach();
  if (!check(channels > 0 && in.width % channels == 0 && out.width % channels == 0, "rows of ", in.width,
             " and ", out.width, " columns of ", channels, " channels"))
    return;
  check(reach >= 1 && reach <= kMaxRatio && op.back() < reach && op.step() >= 1 && op.step() <= kMaxRatio,
        "windows of ", reach, " places, ", op.back(), " of them before, ", op.step(), " apart");
  known(op.activation());
  apart(op);
  if (status_ != MOTE_OK) return;
  step->depthwise_conv = {channels,
                          in.width / channels,
                          out.width / channels,
                          reach,
                          op.back(),
                          op.step(),
                          static_cast<Activation>(op.activation()),
                          window,
                          matrix(op.weight(), op.taps() * reach, channels, "weight"),
                          optional_vector(op.bias(), channels, "bias"),
                          in_one_lane(in.const_rows()),
                          out.rows()};
  f32_step(step, Op::kDepthwiseConv, out, in);
}

}  // namespace mote::ops
