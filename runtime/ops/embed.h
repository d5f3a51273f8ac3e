// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/ops/operation.h"

namespace mote::ops {

struct Embed : Writer<EmbedArgs, &EmbedArgs::out> {
  template <class To>
  static void describe(const file::Embed& op, To& to) {
    to.from("ids");
    to.kind(to.type(op.table()), " ", op.out()->width());
    to.writes(op.out());
    to.table(op.table());
  }
};

inline void Binder::bind(const file::Embed& op, Step* step) {
  const Operand out = f32_slice(op.out(), "out");
  const file::Tensor* table = this->table(op.table(), out, "out");
  if (status_ != MOTE_OK) return;
  of_tokens(out, "out");
  check(table->rows() == model_.root->vocab(), "table has ", table->rows(), " rows for a vocabulary of ",
        model_.root->vocab());
  step->embed = {data(table), table->cols(), table->packing() == file::Packing::rows, places_.ids,
                 out.rows()};
  set_rows(step, out);
  kernel(step, Op::kEmbed, DType::f32, static_cast<DType>(table->dtype()));
}

}  // namespace mote::ops
