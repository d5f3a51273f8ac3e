// SPDX-License-Identifier: Apache-2.0
//
// Pages of memory for tests, on POSIX systems; pages_windows.h has them of Windows.
#pragma once

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <string>

namespace mote::testing {

inline size_t page_bytes() { return static_cast<size_t>(sysconf(_SC_PAGESIZE)); }

/// Returns pages that nothing may touch; null where there are none.
inline void* reserve_pages(size_t bytes) {
  void* const pages = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return pages == MAP_FAILED ? nullptr : pages;
}
/// Lets some of them be read and written.
inline bool open_pages(void* pages, size_t bytes) {
  return mprotect(pages, bytes, PROT_READ | PROT_WRITE) == 0;
}
inline void release_pages(void* pages, size_t bytes) { munmap(pages, bytes); }

/// Makes a folder whose name ends otherwise than XXXXXX; false where it cannot.
inline bool make_own_folder(std::string& name) { return mkdtemp(name.data()) != nullptr; }

}  // namespace mote::testing
