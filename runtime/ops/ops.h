// SPDX-License-Identifier: Apache-2.0
//
// All operations (kernels/op_list.inc): the one switch over them, for all who ask a step something.
#pragma once

#include "kernels/of_model.h"

#define OP_HEADERS
#include "kernels/op_list.inc"

namespace mote {

inline constexpr Traits kOpTraits[] = {
#define OP(op, operation, types) ops::op::kTraits,
#include "kernels/op_list.inc"
};

/// Of an operation of a step.
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
/// of the step. What `select` and `pool` read has rows of another unit: it is not among them.
template <class F>
void for_each_operand(Step& step, F&& f) {
  visit_step(step, [&](auto operation, auto& args) { operation.operands(args, f); });
}

}  // namespace mote
