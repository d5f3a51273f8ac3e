// SPDX-License-Identifier: Apache-2.0
//
// Snapshots of sessions as files.
#pragma once

#include <string>

#include "tools/mote/session.h"

namespace mote::cli {

/// Written under a temporary name, then renamed. Throws convert::Error.
void save_state(const Session& session, const std::string& path);
void load_state(Session& session, const std::string& path);

}  // namespace mote::cli
