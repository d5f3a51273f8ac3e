// SPDX-License-Identifier: Apache-2.0
//
// Completes the options of a session for its model and this machine.
#pragma once

#include "mote/mote.h"

namespace mote {

/// Sets the session's model, kernel family, type of the KV cache and options, with what `given` leaves open
/// filled in; or says what is wrong with them.
mote_status resolve_options(const mote_model* model, const mote_session_options* given, mote_session* session,
                            mote_error* error);

}  // namespace mote
