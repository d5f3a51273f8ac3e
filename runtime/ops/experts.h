// SPDX-License-Identifier: Apache-2.0
//
// Linears of experts: each expert's rows are gathered and multiplied by the linear kernel of the weight's
// type, so that only the weights of chosen experts are read, and once for many rows.
#pragma once

#include "runtime/ops/operation.h"

namespace mote {

/// Units [begin, end) of an expert's panels, for all rows and experts. `scratch`: what the kernel takes for
/// expert_rows() rows, then experts_scratch_bytes().
void run_experts(const ExpertsArgs& args, const KernelEntry* kernel, Range units, void* scratch);

/// Rows that are gathered at a time, of so many.
inline constexpr uint32_t kExpertRows = 32;
inline uint32_t expert_rows(uint32_t rows) { return rows < kExpertRows ? rows : kExpertRows; }

/// Returns the bytes of the gathered rows, of their outputs, and of a count for each row of its experts so
/// far.
inline uint64_t experts_scratch_bytes(const ExpertsArgs& args, uint32_t rows) {
  return expert_rows(rows) * (buffer_row_bytes(args.in_type, args.linear.inputs) +
                              buffer_row_bytes(DType::f32, args.linear.outputs)) +
         uint64_t{rows} * sizeof(uint32_t);
}

}  // namespace mote

namespace mote::ops {

struct Experts : Operation {
  static constexpr Traits kTraits{WorkUnit::expert_panel, Reads::own_row};

  template <class F>
  static constexpr void operands(ExpertsArgs& args, F&& f) {
    const uint64_t slots = args.chosen;
    f(args.linear.in, args.linear.in_stride_bytes, args.linear.in_stride_bytes);
    const uint64_t outputs = args.linear.outputs, before_last = (args.sums ? 0 : slots - 1) * args.stride;
    rows_of(f, args.routes, args.experts, args.out, before_last + outputs, args.residual, outputs);
  }
  static uint64_t work_per_row(const ExpertsArgs& args) {
    return uint64_t{args.chosen} * args.linear.inputs * args.linear.outputs;
  }

  static ScratchShape scratch(const ExpertsArgs& args, uint32_t rows) {
    ScratchShape shape{};
    shape.rows = expert_rows(rows);
    shape.inputs = args.linear.inputs;
    return shape;
  }
  static uint64_t own_scratch(const ExpertsArgs& args, uint32_t rows) {
    return experts_scratch_bytes(args, rows);
  }

  static uint32_t units(const ExpertsArgs& args, uint32_t rows) {
    return rows == 0 ? 0 : (args.linear.outputs + kPanelRows - 1) / kPanelRows;
  }

  static Extent prepare(ExpertsArgs& args, const RunRows&, Extent extent) {
    args.linear.rows = extent.units;
    return {units(args, extent.units), extent.work};
  }

  static void run(const ExpertsArgs& all, const Call& call) {
    ExpertsArgs args = all;
    args.linear.rows = call.rows.end - call.rows.begin;
    args.linear.in = static_cast<const char*>(args.linear.in) + call.rows.begin * args.linear.in_stride_bytes;
    args.routes = from_row(args.routes, call.rows.begin);
    args.out = from_row(args.out, call.rows.begin);
    args.residual = from_row(args.residual, call.rows.begin);
    run_experts(args, call.kernel, call.units, call.scratch);
  }

  template <class To>
  static void describe(const file::Experts& op, To& to) {
    to.kind(op.chosen(), " x ", to.type(op.weight()), " ", op.out()->width(), " x ", op.in()->width());
    to.reads(op.in());
    if (op.routes() != nullptr) to.reads(op.routes());
    to.writes(op.out());
    weight_and_bias(op, to);
    to.detail(op.chosen(), " of ", op.routes() != nullptr ? op.routes()->width() : op.chosen(), " experts");
    if (op.sums()) to.detail("summed by their weights");
    activation(op.activation(), to);
    to.adds(op.residual());
  }
};

inline void Binder::bind(const file::Experts& op, Step* step) {
  const auto [weight, dtype, in] = multiplied(op);
  const Operand out = f32_slice(op.out(), "out");
  if (status_ != MOTE_OK) return;
  const uint32_t chosen = op.chosen(), inputs = weight->cols();
  const uint32_t experts = op.routes() != nullptr ? op.routes()->width() : chosen;
  if (!check(chosen > 0 && chosen <= experts, chosen, " of ", experts, " experts are chosen")) return;
  // Behind the last slot of out there are no columns up to a next one.
  const uint64_t between = uint64_t{chosen - 1} * op.stride();
  if (!check(op.sums() || (op.stride() == 0 ? out.width % chosen == 0 : out.width > between), "out has ",
             out.width, " columns for ", chosen, " experts"))
    return;
  const uint32_t outputs = op.sums()          ? out.width
                           : op.stride() == 0 ? out.width / chosen
                                              : static_cast<uint32_t>(out.width - between);
  check(!op.sums() || op.stride() == 0, "sums and has a stride");
  check(op.stride() == 0 || op.stride() >= outputs, "stride ", op.stride(), " is less than ", outputs);
  const uint64_t rows_of_one = align_up(outputs, kPanelRows);
  const bool by_slot = in.width != inputs;
  check(dtype != DType::q8c, "weight is q8c, which experts cannot have");
  check(weight->rows() == experts * rows_of_one, "weight rows ", weight->rows(), " != ", experts, " times ",
        rows_of_one);
  check(!by_slot || in.width == uint64_t{chosen} * inputs, "weight columns ", inputs, " for an input of ",
        in.width);
  check(!by_slot || in.dtype == DType::f32 || inputs % kSupercellColumns == 0, "slots of ", inputs,
        " columns are not a multiple of ", kSupercellColumns);
  same_stream(in, out, "out");
  check(op.residual() == nullptr || op.sums(), "has a residual and sums nothing");
  if (status_ != MOTE_OK) return;
  const LinearArgs linear = {data(weight),
                             optional_vector(op.bias(), weight->rows(), "bias"),
                             static_cast<Activation>(op.activation()),
                             0,
                             outputs,
                             inputs,
                             in.data,
                             in.stride_bytes,
                             {},
                             {nullptr, 0},
                             false,
                             0};
  step->experts = {linear,
                   static_cast<size_t>(rows_of_one / kPanelRows * panel_bytes(dtype, inputs)),
                   experts,
                   chosen,
                   by_slot,
                   op.sums(),
                   in.dtype,
                   op.stride() == 0 ? outputs : op.stride(),
                   optional_rows(in, op.routes(), experts, "routes"),
                   out.rows(),
                   optional_rows(in, op.residual(), out.width, "residual")};
  set_rows(step, in);
  kernel(step, Op::kLinear, in.dtype, dtype);
  step->op = Op::kExperts;
}

}  // namespace mote::ops
