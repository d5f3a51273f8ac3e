// SPDX-License-Identifier: Apache-2.0
//
// Texts that a command reads.
#pragma once

#include <cstddef>
#include <string>

#include "host/tasks/sentence.h"

namespace mote::cli {

inline constexpr size_t kLinesAtOnce = 64;  // of standard input or a file, before an encoder gets them

/// Throws convert::Error for a directory, which streams open as if it were a file.
void refuse_directory(const std::string& path);

using host::trimmed;

/// A whole file, or standard input for "-". Throws convert::Error.
std::string read_text(const std::string& path);

}  // namespace mote::cli
