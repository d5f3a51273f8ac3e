// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/ops/operation.h"

namespace mote::ops {

struct Quantize : Operation {
  template <class F>
  static constexpr void operands(QuantizeArgs& args, F&& f) {
    rows_of(f, args.in, args.width);
    f(args.out, args.out_stride_bytes, args.out_stride_bytes);
  }
  static uint64_t work_per_row(const QuantizeArgs& args) { return 16 * uint64_t{args.width}; }

  template <class To>
  static void describe(const file::Quantize& op, To& to) {
    to.kind(to.type(*op.out()), " ", op.out()->width());
    in_to_out(op, to);
    to.tensor(op.columns());
  }
};

inline void Binder::bind(const file::Quantize& op, Step* step) {
  const Operand in = f32_slice(op.in(), "in");
  const Operand out = quantized_slice(op.out(), "out");
  if (status_ != MOTE_OK) return;
  alike(in, out, "out");
  step->quantize = {in.width, optional_vector(op.columns(), in.width, "columns"), in.const_rows(), out.data,
                    out.stride_bytes};
  set_rows(step, in);
  kernel(step, Op::kQuantize, DType::f32, out.dtype);
}

}  // namespace mote::ops
