// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/ops/operation.h"

namespace mote {
namespace ops {

struct DepthwiseConv : Operation {
  static constexpr Traits kTraits{WorkUnit::row, Reads::tokens};

  template <class F>
  static void operands(DepthwiseConvArgs& args, F&& f) {
    rows_of(f, args.out, uint64_t{args.out_places} * args.channels);
  }
  static uint64_t work_per_row(const DepthwiseConvArgs& args) {
    return uint64_t{args.out_places} * args.channels * args.window.taps * args.reach;
  }

  static Extent prepare(DepthwiseConvArgs& args, const RunRows& run, Extent extent) {
    args.in = run.in_lanes(args.in.first_lane);
    return extent;
  }

  template <class To>
  static void describe(const file::DepthwiseConv& op, To& to) {
    to.kind(op.out()->width(), " x ", op.taps() * op.reach());
    to.reads(op.in());
    to.writes(op.out());
    to.detail(op.taps(), " x ", op.reach(), " taps");
    if (op.dilation() != 1) to.detail(op.dilation(), " apart");
    if (op.activation() != file::Activation::none) to.detail(file::EnumNameActivation(op.activation()));
    to.tensor(op.weight());
    to.tensor(op.bias());
  }
};

}  // namespace ops

inline void Binder::bind(const file::DepthwiseConv& op, Step* step) {
  const Operand in = f32_slice(op.in(), "in");
  const Operand out = f32_slice(op.out(), "out");
  TimeWindow window{};
  if (status_ != MOTE_OK || !time_window(in, out, op.taps(), op.before(), &window, op.dilation())) return;
  const uint32_t channels = op.channels(), reach = op.reach();
  if (!check(channels > 0 && in.width % channels == 0 && out.width % channels == 0, "rows of ", in.width,
             " and ", out.width, " columns of ", channels, " channels"))
    return;
  check(reach >= 1 && reach <= kMaxRatio && op.back() < reach && op.step() >= 1 && op.step() <= kMaxRatio,
        "windows of ", reach, " places, ", op.back(), " of them before, ", op.step(), " apart");
  known(op.activation());
  check(op.in()->buffer() != op.out()->buffer(), "out is in");
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
  set_rows(step, out, in);
  kernel(step, Op::kDepthwiseConv, DType::f32, DType::f32);
}

}  // namespace mote
