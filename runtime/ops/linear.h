// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/exec/backend.h"
#include "runtime/ops/operation.h"

namespace mote {
namespace ops {

struct Linear : Operation {
  static constexpr Traits kTraits{WorkUnit::panel, Reads::own_row};

  template <class F>
  static void operands(LinearArgs& args, F&& f) {
    f(args.in, args.in_stride_bytes, args.in_stride_bytes);
    rows_of(f, args.out, args.outputs);
    rows_of(f, args.residual, args.outputs);
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
    to.reads(op.in());
    to.writes(op.out());
    to.tensor(op.weight());
    to.tensor(op.bias());
    to.detail(activation);
    to.adds(op.residual());
    to.multiplies(op.weight());
  }
};

}  // namespace ops

static_assert(static_cast<int>(file::Activation::MAX) == static_cast<int>(Activation::sigmoid));

inline void Binder::bind(const file::Linear& op, Step* step) {
  const file::Tensor* weight = tensor(op.weight(), "weight");
  if (weight == nullptr) return;
  const DType dtype = static_cast<DType>(weight->dtype());
  const bool quantized = activation_dtype(dtype) != DType::f32;
  const Operand in = quantized ? quantized_slice(op.in(), "in") : f32_slice(op.in(), "in");
  const Operand out = f32_slice(op.out(), "out");
  Operand residual{};
  if (op.residual() != nullptr) residual = f32_slice(op.residual(), "residual");
  if (status_ != MOTE_OK) return;
  check(in.dtype == activation_dtype(dtype), "in is quantized otherwise than its weight");
  check(weight->packing() == file::Packing::p16k4, "weight is not packed");
  check(dtype != DType::q8c || weight->cols() <= kMaxColumnsQ8c, "weight of ", weight->cols(),
        " columns, q8c has at most ", kMaxColumnsQ8c);
  check(weight->cols() == in.width, "weight columns ", weight->cols(), " != input width ", in.width);
  check(weight->rows() == out.width, "weight rows ", weight->rows(), " != output width ", out.width);
  known(op.activation());
  same_stream(in, out, "out");
  if (op.residual() != nullptr) {
    same_stream(in, residual, "residual");
    width(residual, out.width, "residual");
  }
  step->linear = {data(weight),
                  optional_vector(op.bias(), out.width, "bias"),
                  static_cast<Activation>(op.activation()),
                  0,
                  out.width,
                  in.width,
                  in.data,
                  in.stride_bytes,
                  out.rows(),
                  residual.const_rows(),
                  false,
                  0};
  if (op.residual() == nullptr) step->linear.residual = {nullptr, 0};
  set_rows(step, in);
  kernel(step, Op::kLinear, in.dtype, dtype);
  step->on_backend = kHasBackends && places_.backend != nullptr && places_.program == model_.program &&
                     is_for_backend(model_, op_);
}

}  // namespace mote
