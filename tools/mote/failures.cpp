// SPDX-License-Identifier: Apache-2.0
#include "tools/mote/failures.h"

#include "host/base/error.h"
#include "tools/mote/advice.h"
#include "tools/mote/output.h"
#include "tools/mote/signals.h"

namespace mote::cli {
void check(const host::Status& status) {
  if (status.ok()) return;
  if (status.code() == MOTE_CANCELLED) throw Interrupted();
  throw convert::Error(status.text() + advice(static_cast<mote_remedy>(status.remedy())));
}

host::Hooks hooks() {
  return {InterruptGuard::interrupted, [](const std::string& text) { note("{}", text); }, {}};
}

host::Hooks Relay::hooks() const {
  host::Hooks own = cli::hooks();
  own.stop = [this] { return thrown_ != nullptr || InterruptGuard::interrupted(); };
  return own;
}

}  // namespace mote::cli
