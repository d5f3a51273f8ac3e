// SPDX-License-Identifier: Apache-2.0
//
// Pages of memory for tests, on Windows; pages_posix.h has them of POSIX systems.
#pragma once

#include <windows.h>

#include <filesystem>
#include <string>

namespace mote::testing {

inline size_t page_bytes() {
  SYSTEM_INFO info;
  GetSystemInfo(&info);
  return info.dwPageSize;
}

inline void* reserve_pages(size_t bytes) { return VirtualAlloc(nullptr, bytes, MEM_RESERVE, PAGE_NOACCESS); }
inline bool open_pages(void* pages, size_t bytes) {
  return VirtualAlloc(pages, bytes, MEM_COMMIT, PAGE_READWRITE) != nullptr;
}
inline void release_pages(void* pages, size_t) { VirtualFree(pages, 0, MEM_RELEASE); }

inline bool make_own_folder(std::string& name) {
  name.resize(name.size() - 6);  // XXXXXX
  name += std::to_string(GetCurrentProcessId()) + "-" + std::to_string(GetTickCount64());
  std::error_code error;
  return std::filesystem::create_directory(name, error);
}

}  // namespace mote::testing
