// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/ops/operation.h"

namespace mote::ops {

struct Norm : RowMap<NormArgs, 16> {
  template <class To>
  static void describe(const file::Norm& op, To& to) {
    const char* kind = file::EnumNameNormKind(op.kind());
    to.kind(kind, " ", op.out()->width());
    in_to_out(op, to);
    to.detail(kind, " eps ", op.eps(), op.eps_outside_root() ? " outside the root" : "");
    if (op.groups() != 1) to.detail(op.groups(), " groups");
    weight_and_bias(op, to);
  }
};

static_assert(static_cast<int>(file::NormKind::MAX) == static_cast<int>(NormKind::affine));

inline void Binder::bind(const file::Norm& op, Step* step) {
  const auto [in, out] = in_out(op);
  if (status_ != MOTE_OK) return;
  finite(op.eps(), "eps");
  check(op.kind() <= file::NormKind::MAX, "unknown kind");
  if (!check(op.groups() > 0 && in.width % op.groups() == 0, "width ", in.width, " in ", op.groups(),
             " groups"))
    return;
  const uint32_t part = in.width / op.groups();
  step->norm = {static_cast<NormKind>(op.kind()),
                op.eps_outside_root(),
                op.eps(),
                op.groups(),
                in.width,
                optional_vector(op.weight(), part, "weight"),
                optional_vector(op.bias(), part, "bias"),
                in.const_rows(),
                out.rows()};
  f32_step(step, Op::kNorm, in);
}

}  // namespace mote::ops
