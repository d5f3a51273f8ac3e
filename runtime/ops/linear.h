// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/exec/backend.h"
#include "runtime/ops/operation.h"

namespace mote::ops {

struct Linear : Operation {
  static constexpr Traits kTraits{WorkUnit::panel, Reads::own_row};

  template <class F>
  static constexpr void operands(LinearArgs& args, F&& f) {
    f(args.in, args.in_stride_bytes, args.in_stride_bytes);
    rows_of(f, args.out, args.outputs, args.residual, args.outputs);
  }
  static uint64_t work_per_row(const LinearArgs& args) { return uint64_t{args.inputs} * args.outputs; }

  static ScratchShape scratch(const LinearArgs& args, uint32_t rows) {
    ScratchShape shape{};
    shape.rows = rows;
    shape.inputs = args.inputs;
    return shape;
  }

  static uint32_t units(const LinearArgs& args, uint32_t rows) {
    return rows == 0 ? 0 : (args.outputs + kPanelRows - 1) / kPanelRows;
  }

  static Extent prepare(LinearArgs& args, const RunRows&, Extent extent) {
    const uint32_t rows = extent.units;
    if (args.rows != rows) args.rows = rows;  // else the line stays in all cores' caches
    return {units(args, rows), extent.work};
  }

  static void run(const LinearArgs& all, const Call& call) {
    LinearArgs args = all;
    args.stream = call.stream;
    args.rows = call.rows.end - call.rows.begin;
    args.in = static_cast<const char*>(args.in) + call.rows.begin * args.in_stride_bytes;
    args.out = from_row(args.out, call.rows.begin);
    args.residual = from_row(args.residual, call.rows.begin);
    args.scratch_is_ready = call.scratch_is_ready;
    kernel_cast<LinearArgs>(call.kernel)(args, call.units, call.scratch);
  }

  template <class To>
  static void describe(const file::Linear& op, To& to) {
    const char* activation =
        op.activation() == file::Activation::none ? "" : file::EnumNameActivation(op.activation());
    to.kind(to.type(op.weight()), " ", op.out()->width(), " x ", op.in()->width(), *activation ? " " : "",
            activation);
    in_to_out(op, to);
    weight_and_bias(op, to);
    to.detail(activation);
    to.adds(op.residual());
    to.multiplies(op.weight());
  }
};

static_assert(static_cast<int>(file::Activation::MAX) == static_cast<int>(Activation::sigmoid));

inline void Binder::bind(const file::Linear& op, Step* step) {
  const auto [weight, dtype, in] = multiplied(op);
  const Operand out = f32_slice(op.out(), "out");
  if (status_ != MOTE_OK) return;
  check(dtype != DType::q8c || weight->cols() <= kMaxColumnsQ8c, "weight of ", weight->cols(),
        " columns, q8c has at most ", kMaxColumnsQ8c);
  check(weight->cols() == in.width, "weight columns ", weight->cols(), " != input width ", in.width);
  check(weight->rows() == out.width, "weight rows ", weight->rows(), " != output width ", out.width);
  same_stream(in, out, "out");
  step->linear = {data(weight),
                  optional_vector(op.bias(), out.width, "bias"),
                  static_cast<Activation>(op.activation()),
                  0,
                  out.width,
                  in.width,
                  in.data,
                  in.stride_bytes,
                  out.rows(),
                  optional_rows(in, op.residual(), out.width, "residual"),
                  false,
                  0};
  set_rows(step, in);
  kernel(step, Op::kLinear, in.dtype, dtype);
  step->on_backend = kHasBackends && places_.backend != nullptr && places_.program == model_.program &&
                     is_for_backend(model_, op_);
}

}  // namespace mote::ops
