// SPDX-License-Identifier: Apache-2.0
#include "tools/mote/measure/resident.h"

namespace mote::cli {

/// Windows does not tell which of a process's pages are a file's and which are its own.
std::optional<Resident> resident_memory(const void*, std::span<const std::byte>) { return std::nullopt; }

}  // namespace mote::cli
