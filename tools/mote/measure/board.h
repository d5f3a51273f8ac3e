// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace mote::cli {

/// Returns the system's name of this machine: "Raspberry Pi 5 Model B Rev 1.0", or else its processor.
std::string board_name();

}  // namespace mote::cli
