// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/ops/operation.h"

namespace mote::ops {

struct Round : RowMap<RoundArgs, 8> {
  template <class To>
  static void details(const file::Round& op, To& to) {
    to.detail(file::EnumNameRounding(op.to()));
    to.detail("from ", op.least(), " to ", op.most(), " times ", op.unit());
  }
};

static_assert(static_cast<int>(file::Rounding::MAX) == static_cast<int>(Rounding::e4m3));

inline void Binder::bind(const file::Round& op, Step* step) {
  const auto [in, out] = in_out(op);
  if (status_ != MOTE_OK) return;
  check(op.to() <= file::Rounding::MAX, "unknown rounding");
  finite(op.unit(), "unit");
  check(op.unit() > 0.0f, "the unit is not positive");
  const float furthest = op.to() == file::Rounding::e4m3 ? kMostE4m3 : kMostUnits;
  check(op.least() >= -furthest && op.most() <= furthest, "least or most is too far from 0");
  check(op.least() <= op.most(), "least is above most");
  step->round = {in.width,  static_cast<Rounding>(op.to()), op.unit(), op.least(), op.most(), in.const_rows(),
                 out.rows()};
  f32_step(step, Op::kRound, in);
}

}  // namespace mote::ops
