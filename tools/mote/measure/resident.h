// SPDX-License-Identifier: Apache-2.0
//
// Where this process's memory is, as the kernel counts it: /proc/self/smaps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace mote::cli {

/// Bytes in RAM.
struct Resident {
  uint64_t file = 0;   // of the mapping that holds `in_file`
  uint64_t arena = 0;  // of the arena's pages
  uint64_t anonymous =
      0;  // of all mappings but the file's, without the arena: heap, stacks, what libraries write to
};

/// Nothing where the system does not tell. `in_file` may be null; the arena lies on pages of its own, or is
/// empty.
std::optional<Resident> resident_memory(const void* in_file, std::span<const std::byte> arena);

}  // namespace mote::cli
