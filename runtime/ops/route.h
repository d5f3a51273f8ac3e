// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/ops/operation.h"

namespace mote::ops {

static_assert(static_cast<int>(file::Scores::MAX) == static_cast<int>(Scores::softmax_of_chosen));

struct Route : Operation {
  template <class F>
  static constexpr void operands(RouteArgs& args, F&& f) {
    rows_of(f, args.logits, args.experts, args.out, args.experts);
  }
  static uint64_t work_per_row(const RouteArgs& args) {
    return 4 * uint64_t{args.experts} * (args.chosen + 8);
  }

  template <class To>
  static void describe(const file::Route& op, To& to) {
    to.kind(op.chosen(), " of ", op.out()->width());
    to.reads(op.logits());
    to.writes(op.out());
    to.detail(op.chosen(), " of ", op.out()->width(), " experts, ", file::EnumNameScores(op.scores()));
    if (op.groups() != 1) to.detail("in ", op.groups_chosen(), " of ", op.groups(), " groups");
    to.tensor(op.bias());
  }
};

inline void Binder::bind(const file::Route& op, Step* step) {
  const Operand logits = f32_slice(op.logits(), "logits");
  const Operand out = f32_slice(op.out(), "out");
  if (status_ != MOTE_OK) return;
  alike(logits, out, "out");
  const uint32_t experts = logits.width, groups = op.groups();
  check(op.scores() <= file::Scores::MAX, "unknown scores");
  check(experts <= kMaxExperts, experts, " experts, there may be ", kMaxExperts);
  if (!check(groups > 0 && experts % groups == 0, experts, " experts in ", groups, " groups")) return;
  check(op.groups_chosen() > 0 && op.groups_chosen() <= groups, op.groups_chosen(), " of ", groups,
        " groups");
  check(op.chosen() > 0 && op.chosen() <= uint64_t{op.groups_chosen()} * (experts / groups), op.chosen(),
        " of ", experts, " experts are chosen");
  finite(op.factor(), "factor");
  finite(op.eps(), "eps");
  step->route = {static_cast<Scores>(op.scores()),
                 experts,
                 op.chosen(),
                 groups,
                 op.groups_chosen(),
                 op.normalized(),
                 op.eps(),
                 op.factor(),
                 optional_vector(op.bias(), experts, "bias"),
                 logits.const_rows(),
                 out.rows()};
  f32_step(step, Op::kRoute, out);
}

}  // namespace mote::ops
