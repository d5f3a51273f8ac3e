// SPDX-License-Identifier: Apache-2.0
//
// Replaces this program's malloc and mmap families by counting ones, but for sanitized builds, whose
// sanitizer owns them. For one source file of a program.
#pragma once

#include <dlfcn.h>
#include <stdlib.h>
#include <sys/mman.h>

#include <atomic>
#include <cstdint>

namespace test {

inline std::atomic<bool> counting{false};
inline std::atomic<uint32_t> calls{0};

inline void count_call() {
  if (counting.load(std::memory_order_relaxed)) calls.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace test

extern "C" {

void* __libc_malloc(size_t bytes);
void* __libc_calloc(size_t n, size_t bytes);
void* __libc_realloc(void* old, size_t bytes);
void* __libc_memalign(size_t alignment, size_t bytes);

#ifndef MOTE_SANITIZED
void* malloc(size_t bytes) {
  test::count_call();
  return __libc_malloc(bytes);
}
void* calloc(size_t n, size_t bytes) {
  test::count_call();
  return __libc_calloc(n, bytes);
}
void* realloc(void* old, size_t bytes) {
  test::count_call();
  return __libc_realloc(old, bytes);
}
void* aligned_alloc(size_t alignment, size_t bytes) {
  test::count_call();
  return __libc_memalign(alignment, bytes);
}
int posix_memalign(void** out, size_t alignment, size_t bytes) {
  test::count_call();
  *out = __libc_memalign(alignment, bytes);
  return *out == nullptr ? 12 : 0;
}
void* mmap(void* address, size_t bytes, int protection, int flags, int fd, off_t offset) {
  test::count_call();
  using Mmap = void* (*)(void*, size_t, int, int, int, off_t);
  static const Mmap real = reinterpret_cast<Mmap>(dlsym(RTLD_NEXT, "mmap"));
  return real(address, bytes, protection, flags, fd, offset);
}
#endif

}  // extern "C"
