// SPDX-License-Identifier: Apache-2.0
//
// Statuses of the core's calls as exceptions.
#pragma once

#include <string>

#include "mote/status.h"

namespace mote::cli {

/// Throws convert::Error "what: error.text" unless the status is MOTE_OK.
void check(mote_status status, const mote_error& error, const std::string& what);

}  // namespace mote::cli
