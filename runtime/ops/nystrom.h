// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/ops/operation.h"

namespace mote::ops {

struct Nystrom : OfHeads {
  template <class F>
  static constexpr void operands(NystromArgs& args, F&& f) {
    const uint64_t width = uint64_t{args.heads} * args.head_dim;
    rows_of(f, args.q, width, args.k, width, args.v, width, args.out, width);
  }
  static uint64_t work_per_row(const NystromArgs& args) {
    return 4 * uint64_t{args.heads} * args.head_dim * args.landmarks;
  }
  static uint64_t own_scratch(const NystromArgs& args, uint32_t) { return nystrom_scratch_bytes(args); }

  template <class To>
  static void describe(const file::Nystrom& op, To& to) {
    OfHeads::describe(op, to);
    to.writes(op.out());
    to.detail(op.heads(), " heads, ", op.landmarks(), " landmarks, scale ", op.scale());
  }
};

inline void Binder::bind(const file::Nystrom& op, Step* step) {
  const Heads heads = heads_of(op, Op::kNystrom, step);
  if (status_ != MOTE_OK) return;
  check(is_whole(*places_.program), "landmarks are of whole sequences");
  width(heads.v, heads.q.width, "v");
  finite(op.scale(), "scale");
  const uint32_t least = least_tokens(*places_.program);
  if (!check(heads.key_dim <= kMaxHeadDim, "heads of width ", heads.key_dim) ||
      !check(op.landmarks() > 0 && op.landmarks() <= kMaxLandmarks && least % op.landmarks() == 0 &&
                 least == context_of(*model_.root, *places_.program),
             op.landmarks(), " landmarks of at least ", least, " tokens, which are not all of a context"))
    return;
  for (const file::Slice* slice : {op.q(), op.k(), op.v()})
    check(slice->buffer() != op.out()->buffer(), "out is q, k or v");
  step->nystrom = {op.heads(), heads.key_dim, op.landmarks(),       op.scale(), place(heads.q).starts,
                   0,          kOneLane,      heads.q.const_rows(), heads.k,    heads.v.const_rows(),
                   heads.out};
}

}  // namespace mote::ops
