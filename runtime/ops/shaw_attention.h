// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/ops/operation.h"

namespace mote {
namespace ops {

struct ShawAttention : Operation {
  static constexpr Traits kTraits{WorkUnit::sequence_block, Reads::state};

  template <class F>
  static void operands(ShawAttentionArgs& args, F&& f) {
    rows_of(f, args.q, uint64_t{args.heads} * args.key_dim);
    rows_of(f, args.k, uint64_t{args.heads} * args.key_dim);
    rows_of(f, args.v, uint64_t{args.heads} * args.value_dim);
    rows_of(f, args.out, uint64_t{args.heads} * args.value_dim);
  }
  /// Of a sequence of some tens of rows.
  static uint64_t work_per_row(const ShawAttentionArgs& args) {
    return 64 * uint64_t{args.heads} * (args.key_dim + args.value_dim);
  }
  static ScratchShape scratch(const ShawAttentionArgs& args, uint32_t rows) {
    ScratchShape shape{};
    shape.rows = rows;
    shape.inputs = 2 * uint64_t{args.reach} + 1;
    return shape;
  }

  static Extent prepare(ShawAttentionArgs& args, const RunRows& run, Extent extent) {
    args.lanes = run.lanes();
    args.first = run.first_sequence;
    return {(run.end_sequence - run.first_sequence) * args.heads, extent.work};
  }

  template <class To>
  static void describe(const file::ShawAttention& op, To& to) {
    to.kind(op.heads(), " x ", op.q()->width() / op.heads());
    for (const file::Slice* slice : {op.q(), op.k(), op.v()}) to.reads(slice);
    to.writes(op.out());
    to.detail(op.heads(), " heads, scale ", op.scale(), ", bidirectional");
    to.tensor(op.keys());
    to.tensor(op.values());
  }
};

}  // namespace ops

inline void Binder::bind(const file::ShawAttention& op, Step* step) {
  const Operand q = f32_slice(op.q(), "q"), k = f32_slice(op.k(), "k"), v = f32_slice(op.v(), "v"),
                out = f32_slice(op.out(), "out");
  const file::Tensor* keys = tensor(op.keys(), "keys");
  if (status_ != MOTE_OK) return;
  check(is_whole(*places_.program), "only programs of whole sequences see what comes behind");
  check(op.heads() > 0 && q.width % op.heads() == 0 && v.width % op.heads() == 0, op.heads(),
        " heads in widths ", q.width, " and ", v.width);
  finite(op.scale(), "scale");
  check(keys->rows() % 2 == 1 && keys->rows() <= kMaxWidth, "keys has ", keys->rows(), " rows");
  if (status_ != MOTE_OK) return;
  const uint32_t key_dim = q.width / op.heads(), value_dim = v.width / op.heads();
  token_columns(q, q.width, "q");
  token_columns(k, q.width, "k");
  token_columns(v, v.width, "v");
  token_columns(out, v.width, "out");
  step->shaw_attention = {kOneLane,
                          place(q).starts,
                          0,
                          op.heads(),
                          key_dim,
                          value_dim,
                          op.scale(),
                          op.beyond(),
                          keys->rows() / 2,
                          matrix(op.keys(), keys->rows(), key_dim, "keys"),
                          matrix(op.values(), keys->rows(), value_dim, "values"),
                          q.const_rows(),
                          k.const_rows(),
                          v.const_rows(),
                          out.rows()};
  set_rows(step, q);
  kernel(step, Op::kShawAttention, DType::f32, DType::f32);
}

}  // namespace mote
