// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/ops/operation.h"

namespace mote::ops {

struct ShawAttention : OfHeads {
  template <class F>
  static constexpr void operands(ShawAttentionArgs& args, F&& f) {
    const uint64_t keys = uint64_t{args.heads} * args.key_dim, values = uint64_t{args.heads} * args.value_dim;
    rows_of(f, args.q, keys, args.k, keys, args.v, values, args.out, values);
  }
  /// Returns the work of a row in a sequence of some tens of rows.
  static uint64_t work_per_row(const ShawAttentionArgs& args) {
    return 64 * uint64_t{args.heads} * (args.key_dim + args.value_dim);
  }
  static ScratchShape scratch(const ShawAttentionArgs& args, uint32_t rows) {
    ScratchShape shape{};
    shape.rows = rows;
    shape.inputs = 2 * uint64_t{args.reach} + 1;
    return shape;
  }

  template <class To>
  static void describe(const file::ShawAttention& op, To& to) {
    OfHeads::describe(op, to);
    to.writes(op.out());
    to.detail(op.heads(), " heads, scale ", op.scale(), ", bidirectional");
    to.tensor(op.keys());
    to.tensor(op.values());
  }
};

inline void Binder::bind(const file::ShawAttention& op, Step* step) {
  const Heads heads = heads_of(op, Op::kShawAttention, step);
  const file::Tensor* keys = tensor(op.keys(), "keys");
  if (status_ != MOTE_OK) return;
  check(is_whole(*places_.program), "only programs of whole sequences see what comes behind");
  finite(op.scale(), "scale");
  check(keys->rows() % 2 == 1 && keys->rows() <= kMaxWidth, "keys has ", keys->rows(), " rows");
  step->shaw_attention = {kOneLane,
                          place(heads.q).starts,
                          0,
                          op.heads(),
                          heads.key_dim,
                          heads.value_dim,
                          op.scale(),
                          op.beyond(),
                          keys->rows() / 2,
                          matrix(op.keys(), keys->rows(), heads.key_dim, "keys"),
                          matrix(op.values(), keys->rows(), heads.value_dim, "values"),
                          heads.q.const_rows(),
                          heads.k,
                          heads.v.const_rows(),
                          heads.out};
}

}  // namespace mote::ops
