// SPDX-License-Identifier: Apache-2.0
#include "runtime/exec/bind.h"

#include "kernels/trimmed_build.h"
#include "runtime/ops/ops.h"

namespace mote {

#define WEIGHT_TYPE(name, layout, activations) \
  static_assert(static_cast<int>(file::DType::name) == static_cast<int>(DType::name));
#include "schema/weight_types.inc"
#undef WEIGHT_TYPE
static_assert(static_cast<int>(file::DType::MAX) + 1 == kDTypeCount, "the list has every type of the schema");
#define OP(op, operation, types) \
  static_assert(static_cast<int>(file::OpArgs::op) == static_cast<int>(Op::k##op) + 1);
#include "kernels/op_list.inc"
static_assert(static_cast<int>(file::OpArgs::MAX) == static_cast<int>(Op::kAttentionMerge),
              "the list has every operation of the schema");

uint64_t scratch_bytes(const Step& step, uint32_t rows) {
  return visit_step(step, [&](auto operation, const auto& args) {
    return step.kernel->scratch_bytes(operation.scratch(args, rows)) + operation.own_scratch(args, rows);
  });
}

mote_status bind(const mote_model& model, const Places& places, uint32_t index, Step* step,
                 mote_error* error) {
  Binder binder(model, places, index, error);
  const file::Op* op = places.program->ops()->Get(index);
  switch (op->args_type()) {
#define OP(op_name, operation, types) \
  MOTE_OP_OF_MODEL(op_name, case file::OpArgs::op_name : binder.bind(*op->args_as_##op_name(), step); break;)
#include "kernels/op_list.inc"
    default:
      return fail_at(error, MOTE_UNSUPPORTED_FILE, static_cast<int32_t>(index), "op ", index,
                     ": unknown operation; a newer mote made this file, or the build is for another model");
  }
  if (binder.status() != MOTE_OK) return binder.status();
  step->work_per_row =
      visit_step(*step, [](auto operation, const auto& args) { return operation.work_per_row(args); });
  return MOTE_OK;
}

mote_status bind_slice(const mote_model& model, const Places& places, uint32_t op, const file::Slice* slice,
                       ConstRows* rows, uint32_t* stream, mote_error* error) {
  Proofs proofs(model, places, op, error);
  const Operand operand = proofs.f32_slice(slice, "output");
  *rows = operand.const_rows();
  *stream = operand.stream;
  return proofs.status();
}

}  // namespace mote
