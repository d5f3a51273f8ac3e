// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/ops/operation.h"

namespace mote {
namespace ops {

struct MixStreams : Operation {
  template <class F>
  static void operands(MixStreamsArgs& args, F&& f) {
    rows_of(f, args.in, uint64_t{args.inputs} * args.width);
    rows_of(f, args.coefficients, uint64_t{args.count} * args.inputs);
    rows_of(f, args.residual, uint64_t{args.count} * args.width);
    rows_of(f, args.out, uint64_t{args.count} * args.width);
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

}  // namespace ops

inline void Binder::bind(const file::MixStreams& op, Step* step) {
  const Operand in = f32_slice(op.in(), "in"), coefficients = f32_slice(op.coefficients(), "coefficients"),
                residual = f32_slice(op.residual(), "residual"), out = f32_slice(op.out(), "out");
  if (status_ != MOTE_OK) return;
  same_stream(in, coefficients, "coefficients");
  same_stream(in, residual, "residual");
  same_stream(in, out, "out");
  width(residual, out.width, "residual");
  if (!check(op.streams() > 0 && out.width % op.streams() == 0, "out has ", out.width, " columns for ",
             op.streams(), " streams"))
    return;
  const uint32_t own = out.width / op.streams();
  if (!check(own > 0 && in.width % own == 0, "in has ", in.width, " columns for streams of ", own)) return;
  const uint32_t inputs = in.width / own;
  width(coefficients, uint64_t{op.streams()} * inputs, "coefficients");
  step->mix_streams = {
      own,       inputs, op.streams(), in.const_rows(), coefficients.const_rows(), residual.const_rows(),
      out.rows()};
  set_rows(step, in);
  kernel(step, Op::kMixStreams, DType::f32, DType::f32);
}

}  // namespace mote
