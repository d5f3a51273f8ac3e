// SPDX-License-Identifier: Apache-2.0
//
// Where this process's memory is, as the kernel counts it: /proc/self/smaps.
#pragma once

#include <cstdint>
#include <optional>

namespace mote::cli {

/// Bytes in RAM.
struct Resident {
  uint64_t file = 0;       // of the mapping that holds `in_file`
  uint64_t arena = 0;      // of the mapping that holds `in_arena`
  uint64_t anonymous = 0;  // of all mappings but these: heap, stacks, what libraries write to
};

/// Nothing where the system does not tell. Pointers may be null.
std::optional<Resident> resident_memory(const void* in_file, const void* in_arena);

}  // namespace mote::cli
