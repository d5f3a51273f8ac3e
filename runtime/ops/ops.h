// SPDX-License-Identifier: Apache-2.0
//
// All operations (kernels/op_list.inc): the one switch over them, for all who ask a step something.
#pragma once

#include "kernels/trimmed_build.h"

#include "runtime/ops/activate.h"
#include "runtime/ops/attention.h"
#include "runtime/ops/causal_conv.h"
#include "runtime/ops/clamp.h"
#include "runtime/ops/cutoff.h"
#include "runtime/ops/depthwise_conv.h"
#include "runtime/ops/embed.h"
#include "runtime/ops/experts.h"
#include "runtime/ops/fourier.h"
#include "runtime/ops/frames.h"
#include "runtime/ops/gate.h"
#include "runtime/ops/gated_delta.h"
#include "runtime/ops/gather_rows.h"
#include "runtime/ops/grid_frames.h"
#include "runtime/ops/grid_gather.h"
#include "runtime/ops/grid_positions.h"
#include "runtime/ops/grid_resize.h"
#include "runtime/ops/input.h"
#include "runtime/ops/kv_store.h"
#include "runtime/ops/leaky_relu.h"
#include "runtime/ops/linear.h"
#include "runtime/ops/linear_attention.h"
#include "runtime/ops/match_rms.h"
#include "runtime/ops/mix_streams.h"
#include "runtime/ops/norm.h"
#include "runtime/ops/nystrom.h"
#include "runtime/ops/pool.h"
#include "runtime/ops/positions.h"
#include "runtime/ops/quantize.h"
#include "runtime/ops/recurrent_cell.h"
#include "runtime/ops/rope.h"
#include "runtime/ops/rope_table.h"
#include "runtime/ops/round.h"
#include "runtime/ops/route.h"
#include "runtime/ops/scale_rows.h"
#include "runtime/ops/select.h"
#include "runtime/ops/selective_scan.h"
#include "runtime/ops/shaw_attention.h"
#include "runtime/ops/sines.h"
#include "runtime/ops/spline.h"
#include "runtime/ops/split_rows.h"
#include "runtime/ops/ssm_scan.h"
#include "runtime/ops/stack_rows.h"
#include "runtime/ops/time_norm.h"
#include "runtime/ops/token_dropout.h"
#include "runtime/ops/xielu.h"

namespace mote {

inline constexpr Traits kOpTraits[] = {
#define OP(op, operation, types) ops::op::kTraits,
#include "kernels/op_list.inc"
};

/// Returns the traits of an operation of a step.
inline const Traits& traits_of(Op op) { return kOpTraits[static_cast<size_t>(op)]; }

/// Calls f(operation, args): a value of the struct of the step's operation, and its member of the union.
/// Always inlined, so that what f captures stays in registers.
template <class AnyStep, class F>
__attribute__((always_inline)) inline auto visit_step(AnyStep& step, F&& f)
    -> decltype(f(ops::Embed{}, step.embed)) {
  switch (step.op) {
#define OP(op_name, operation, types) \
  MOTE_OP_OF_MODEL(op_name, case Op::k##op_name : return f(ops::op_name{}, step.operation);)
#include "kernels/op_list.inc"
    default:  // of no step
      break;
  }
  return decltype(f(ops::Embed{}, step.embed))();
}

/// Calls f(data, stride_bytes, bytes), as Operation::rows_of has them, for each operand with a row per unit
/// of the step. The operands that `select` and `pool` read have rows of another unit: they are not among
/// these.
template <class F>
void for_each_operand(Step& step, F&& f) {
  visit_step(step, [&](auto operation, auto& args) { operation.operands(args, f); });
}

}  // namespace mote
