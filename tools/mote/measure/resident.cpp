// SPDX-License-Identifier: Apache-2.0
#include "tools/mote/measure/resident.h"

#include <cstdio>
#include <fstream>
#include <string>

namespace mote::cli {

std::optional<Resident> resident_memory(const void* in_file, const void* in_arena) {
  const auto file = reinterpret_cast<uintptr_t>(in_file), arena = reinterpret_cast<uintptr_t>(in_arena);
  std::ifstream maps("/proc/self/smaps");
  if (!maps) return std::nullopt;
  Resident resident;
  uintptr_t begin = 0, end = 0;
  for (std::string line; std::getline(maps, line);) {
    unsigned long from, to, kib;
    const auto holds = [&](uintptr_t address) { return begin <= address && address < end; };
    // A mapping's line, "begin-end permissions ...", comes before those of its counts, "Rss:  12 kB".
    if (std::sscanf(line.c_str(), "%lx-%lx ", &from, &to) == 2) {
      begin = from;
      end = to;
    } else if (std::sscanf(line.c_str(), "Rss: %lu kB", &kib) == 1) {
      if (holds(file)) resident.file += uint64_t{kib} << 10;
      if (holds(arena)) resident.arena += uint64_t{kib} << 10;
    } else if (std::sscanf(line.c_str(), "Anonymous: %lu kB", &kib) == 1) {
      if (!holds(file) && !holds(arena)) resident.anonymous += uint64_t{kib} << 10;
    }
  }
  return resident;
}

}  // namespace mote::cli
