// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/ops/operation.h"

namespace mote::ops {

struct TokenDropout : Writer<TokenDropoutArgs, &TokenDropoutArgs::x> {
  template <class To>
  static void describe(const file::TokenDropout& op, To& to) {
    to.kind(op.x()->width());
    to.from("ids");
    to.updates(op.x());
    to.detail("token ", static_cast<uint32_t>(op.dropped()), ", kept ", op.kept());
  }
};

inline void Binder::bind(const file::TokenDropout& op, Step* step) {
  const Operand x = f32_slice(op.x(), "x");
  if (status_ != MOTE_OK) return;
  of_tokens(x, "x");
  finite(op.kept(), "kept");
  check(is_whole(*places_.program), "tokens are dropped of whole sequences only");
  check(op.dropped() >= 0 && static_cast<uint32_t>(op.dropped()) < model_.root->vocab(), "token ",
        static_cast<uint32_t>(op.dropped()), " is not in the vocabulary");
  const StreamPlace& rows = place(x);
  step->token_dropout = {x.width,        op.kept(),      op.dropped(), places_.ids,
                         rows.positions, rows.last_seen, x.rows()};
  f32_step(step, Op::kTokenDropout, x);
}

}  // namespace mote::ops
