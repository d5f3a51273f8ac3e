// SPDX-License-Identifier: Apache-2.0
//
// Gives the pool of threads what it asks of Windows, by the threads of MinGW-w64 (winpthreads).
// platforms/posix/system.h has the same for POSIX systems.
#pragma once

#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <windows.h>

namespace {

int64_t now_ns() {
  LARGE_INTEGER ticks, a_second;
  QueryPerformanceCounter(&ticks);
  QueryPerformanceFrequency(&a_second);
  // In two parts: ticks times 10^9 may be more than 64 bits hold.
  const int64_t seconds = ticks.QuadPart / a_second.QuadPart, rest = ticks.QuadPart % a_second.QuadPart;
  return seconds * 1000000000 + rest * 1000000000 / a_second.QuadPart;
}

/// Windows does not count how often threads have been taken from a core. A waiting thread spins to its end.
long preemptions() { return 0; }

/// Does nothing: an interrupt comes in a thread of its own.
struct BlockedSignals {
  BlockedSignals() {}
};

/// Returns aligned memory, or null with errno.
void* allocate_aligned(size_t alignment, size_t bytes) {
  void* memory = _aligned_malloc(bytes, alignment);
  if (!memory) errno = ENOMEM;
  return memory;
}
void free_aligned(void* memory) { _aligned_free(memory); }

/// The cores of its group that this process may use. Their clocks are not known.
uint32_t count_cores(long, long*) {
  DWORD_PTR process = 0, system = 0;
  if (!GetProcessAffinityMask(GetCurrentProcess(), &process, &system) || process == 0) return 1;
  return static_cast<uint32_t>(__builtin_popcountll(process));
}

}  // namespace
