// SPDX-License-Identifier: Apache-2.0
//
// Memory for the arena of a session, on pages of its own.
#pragma once

#include <cstddef>
#include <memory>
#include <new>

namespace mote::convert {

constexpr size_t kArenaPage = 4096;

struct FreeArena {
  void operator()(void* memory) const { ::operator delete (memory, std::align_val_t{kArenaPage}); }
};
using ArenaMemory = std::unique_ptr<void, FreeArena>;

/// Returns null where there is not enough memory.
inline ArenaMemory arena_memory(size_t bytes) {
  const size_t whole = (bytes + kArenaPage - 1) / kArenaPage * kArenaPage;
  return ArenaMemory(whole < bytes ? nullptr
                                   : ::operator new (whole, std::align_val_t{kArenaPage}, std::nothrow));
}

}  // namespace mote::convert
