// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace mote::cli {

/// Prints lines of the flash that a .mote file takes in firmware, and of RAM at contexts of 64, 128 and 256.
void print_firmware_report(const std::string& path);

}  // namespace mote::cli
