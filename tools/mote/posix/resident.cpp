// SPDX-License-Identifier: Apache-2.0
#include "tools/mote/measure/resident.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

namespace mote::cli {

namespace {

/// Returns the bytes of the pages that are in RAM.
uint64_t resident_pages(std::span<const std::byte> memory) {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  std::vector<unsigned char> states((memory.size() + page - 1) / page);
  void* const start = const_cast<std::byte*>(memory.data());
  if (states.empty() || mincore(start, memory.size(), states.data()) != 0) return 0;
  return page * static_cast<uint64_t>(std::count_if(states.begin(), states.end(),
                                                    [](unsigned char state) { return state & 1; }));
}

}  // namespace

std::optional<Resident> resident_memory(const void* in_file, std::span<const std::byte> arena) {
  const auto file = reinterpret_cast<uintptr_t>(in_file);
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
    } else if (std::sscanf(line.c_str(), "Anonymous: %lu kB", &kib) == 1) {
      if (!holds(file)) resident.anonymous += uint64_t{kib} << 10;
    }
  }
  resident.arena = resident_pages(arena);
  resident.anonymous -= std::min(resident.anonymous, resident.arena);
  return resident;
}

}  // namespace mote::cli
