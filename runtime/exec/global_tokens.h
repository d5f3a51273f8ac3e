// SPDX-License-Identifier: Apache-2.0
//
// Which tokens of a pass are global (Globals in schema/mote.fbs).
#pragma once

#include "runtime/exec/session.h"

namespace mote {

/// Finds for each row of the pass the next position of a global token, in models that have global tokens
/// (kernels/attention_ops.h).
void find_global_tokens(mote_session* session);

}  // namespace mote
