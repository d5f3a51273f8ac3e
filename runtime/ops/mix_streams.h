// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/ops/operation.h"

namespace mote::ops {

struct MixStreams : Operation {
  template <class F>
  static constexpr void operands(MixStreamsArgs& args, F&& f) {
    const uint64_t count = args.count;
    rows_of(f, args.in, uint64_t{args.inputs} * args.width, args.coefficients, count * args.inputs,
            args.residual, count * args.width, args.out, count * args.width);
  }
  static uint64_t work_per_row(const MixStreamsArgs& args) {
    return uint64_t{args.count} * args.inputs * args.width;
  }

  template <class To>
  static void describe(const file::MixStreams& op, To& to) {
    to.kind(op.in()->width(), " -> ", op.out()->width());
    to.reads(op.in());
    to.reads(op.coefficients());
    to.writes(op.out());
    to.detail(op.streams(), " streams");
    to.adds(op.residual());
  }
};

inline void Binder::bind(const file::MixStreams& op, Step* step) {
  const auto [in, out] = slices(op);
  if (status_ != MOTE_OK) return;
  same_stream(in, out, "out");
  if (!check(op.streams() > 0 && out.width % op.streams() == 0, "out has ", out.width, " columns for ",
             op.streams(), " streams"))
    return;
  const uint32_t own = out.width / op.streams();
  if (!check(own > 0 && in.width % own == 0, "in has ", in.width, " columns for streams of ", own)) return;
  const uint32_t inputs = in.width / own;
  step->mix_streams = {own,
                       inputs,
                       op.streams(),
                       in.const_rows(),
                       rows_beside(in, op.coefficients(), uint64_t{op.streams()} * inputs, "coefficients"),
                       rows_beside(in, op.residual(), out.width, "residual"),
                       out.rows()};
  f32_step(step, Op::kMixStreams, in);
}

}  // namespace mote::ops
