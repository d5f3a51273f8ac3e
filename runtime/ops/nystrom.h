// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/ops/operation.h"

namespace mote {
namespace ops {

struct Nystrom : Operation {
  static constexpr Traits kTraits{WorkUnit::sequence_block, Reads::tokens};

  template <class F>
  static void operands(NystromArgs& args, F&& f) {
    const uint64_t width = uint64_t{args.heads} * args.head_dim;
    rows_of(f, args.q, width);
    rows_of(f, args.k, width);
    rows_of(f, args.v, width);
    rows_of(f, args.out, width);
  }
  static uint64_t work_per_row(const NystromArgs& args) {
    return 4 * uint64_t{args.heads} * args.head_dim * args.landmarks;
  }
  static uint64_t own_scratch(const NystromArgs& args, uint32_t) { return nystrom_scratch_bytes(args); }

  static Extent prepare(NystromArgs& args, const RunRows& run, Extent extent) {
    args.lanes = run.lanes();
    args.first = run.first_sequence;
    return {run.end_sequence - run.first_sequence, extent.work};
  }

  template <class To>
  static void describe(const file::Nystrom& op, To& to) {
    to.kind(op.heads(), " x ", op.q()->width() / op.heads());
    for (const file::Slice* slice : {op.q(), op.k(), op.v()}) to.reads(slice);
    to.writes(op.out());
    to.detail(op.heads(), " heads, ", op.landmarks(), " landmarks, scale ", op.scale());
  }
};

}  // namespace ops

inline void Binder::bind(const file::Nystrom& op, Step* step) {
  const Operand q = f32_slice(op.q(), "q"), k = f32_slice(op.k(), "k"), v = f32_slice(op.v(), "v"),
                out = f32_slice(op.out(), "out");
  if (status_ != MOTE_OK) return;
  check(is_whole(*places_.program), "landmarks are of whole sequences");
  of_tokens(q, "q");
  for (const Operand& other : {k, v, out}) {
    same_stream(q, other, "k, v or out");
    width(other, q.width, "k, v or out");
  }
  finite(op.scale(), "scale");
  const uint32_t least = least_tokens(*places_.program);
  if (!check(op.heads() > 0 && q.width % op.heads() == 0 && q.width / op.heads() <= kMaxHeadDim, op.heads(),
             " heads in width ", q.width) ||
      !check(op.landmarks() > 0 && op.landmarks() <= kMaxLandmarks && least % op.landmarks() == 0 &&
                 least == context_of(*model_.root, *places_.program),
             op.landmarks(), " landmarks of at least ", least, " tokens, which are not all of a context"))
    return;
  for (const file::Slice* slice : {op.q(), op.k(), op.v()})
    check(slice->buffer() != op.out()->buffer(), "out is q, k or v");
  step->nystrom = {op.heads(), q.width / op.heads(), op.landmarks(), op.scale(),     place(q).starts, 0,
                   kOneLane,   q.const_rows(),       k.const_rows(), v.const_rows(), out.rows()};
  set_rows(step, q);
  kernel(step, Op::kNystrom, DType::f32, DType::f32);
}

}  // namespace mote
