// SPDX-License-Identifier: Apache-2.0
//
// Goes over what the operations of a file say of themselves (runtime/ops).
#pragma once

#include "runtime/ops/ops.h"

namespace mote {

/// Takes what ops::<operation>::describe says. A class derived from it hides the functions that it is
/// interested in; slices may be null, indices of tensors -1.
class OpVisitor {
 public:
  OpVisitor(const file::Model& model, const file::Program& program) : model_(model), program_(program) {}

  // ---- For describe to read ----
  const char* type(int32_t index) const {
    const file::Tensor* found = tensor_at(index);
    return found == nullptr ? "" : file::EnumNameDType(found->dtype());
  }
  const char* type(const file::Slice& slice) const { return file::EnumNameDType(buffer(slice).dtype()); }
  const file::State& cache(uint32_t index) const { return *model_.states()->Get(index); }

  // ---- Words, in pieces: strings and numbers ----
  template <class... Pieces>
  void kind(const Pieces&...) {}  // what operations that do the same have in common
  template <class... Pieces>
  void detail(const Pieces&...) {}
  template <class... Pieces>
  void from(const Pieces&...) {}  // an input that is no slice
  template <class... Pieces>
  void to(const Pieces&...) {}  // such an output

  // ---- Operands ----
  void reads(const file::Slice*) {}
  void writes(const file::Slice*) {}
  void updates(const file::Slice*) {}
  void adds(const file::Slice*) {}     // a residual
  void table(int32_t) {}               // a row of it for each row
  void tensor(int32_t) {}              // all of it
  void multiplies(int32_t) {}          // rows with this weight, which was named as a tensor
  void stores(uint32_t) {}             // keys and values in this cache
  void attends(uint32_t, uint32_t) {}  // over this cache with so many heads
  void carries(uint32_t, uint64_t) {}  // this state from row to row, with so many multiply-adds each

 protected:
  const file::Tensor* tensor_at(int32_t index) const {
    return index < 0 ? nullptr : model_.tensors()->Get(static_cast<uint32_t>(index));
  }
  const file::Buffer& buffer(const file::Slice& slice) const {
    return *program_.buffers()->Get(slice.buffer());
  }

  const file::Model& model_;
  const file::Program& program_;
};

template <class Visitor>
void visit_op(const file::Op& op, Visitor& visitor) {
  switch (op.args_type()) {
#define OP(op_name, operation, types)                                          \
  MOTE_OP_OF_MODEL(op_name, case file::OpArgs::op_name                         \
                   : ops::op_name::describe(*op.args_as_##op_name(), visitor); \
                   return ops::op_name::details(*op.args_as_##op_name(), visitor);)
#include "kernels/op_list.inc"
    default:
      break;
  }
}

}  // namespace mote
