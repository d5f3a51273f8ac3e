// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "tools/mote/arguments.h"

namespace mote::cli {

/// Adds --size, the sides that pictures become.
void add_picture_size(Command& command, std::string& size);

/// Fails for a text that names no size; an empty one is the option that was not given.
void check_picture_size(const std::string& size);

}  // namespace mote::cli
