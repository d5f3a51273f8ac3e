// SPDX-License-Identifier: Apache-2.0
#include "tools/mote/interruptible_runs.h"

#include "tools/mote/signals.h"

namespace mote::cli {

void compute(Session& session, const mote_rows& rows, const std::string& what) {
  const InterruptGuard guard;
  check(host::compute(session, rows, hooks(), what));
}

void encode(Session& session, const mote_batch& batch, const std::string& what) {
  const InterruptGuard guard;
  check(host::encode(session, batch, hooks(), what));
}

void encode_values(Session& session, const float* values, uint32_t rows, const std::string& what) {
  const InterruptGuard guard;
  check(host::encode_values(session, values, rows, hooks(), what));
}

void prefill(Session& session, const std::vector<int32_t>& ids, const std::string& what) {
  check(host::prefill(session, ids, hooks(), what));
}

}  // namespace mote::cli
