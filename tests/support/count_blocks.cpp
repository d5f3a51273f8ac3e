// SPDX-License-Identifier: Apache-2.0
#include "tests/support/count_blocks.h"

#include <cstddef>
#include <cstdlib>
#include <new>

namespace test {
namespace {

constexpr uint64_t kBytesOfStep = 16;
thread_local uint64_t steps = 0;

void count_bytes(size_t bytes) { steps += bytes / kBytesOfStep; }

}  // namespace

uint64_t work_done() { return steps; }

}  // namespace test

extern "C" {

void __sanitizer_cov_trace_pc() { ++test::steps; }

// The linker puts these in the place of the functions that they name (--wrap).
void* __real_memcpy(void* to, const void* from, size_t bytes);
void* __real_memmove(void* to, const void* from, size_t bytes);
void* __real_memset(void* to, int value, size_t bytes);
int __real_memcmp(const void* a, const void* b, size_t bytes);

void* __wrap_memcpy(void* to, const void* from, size_t bytes) {
  test::count_bytes(bytes);
  return __real_memcpy(to, from, bytes);
}
void* __wrap_memmove(void* to, const void* from, size_t bytes) {
  test::count_bytes(bytes);
  return __real_memmove(to, from, bytes);
}
void* __wrap_memset(void* to, int value, size_t bytes) {
  test::count_bytes(bytes);
  return __real_memset(to, value, bytes);
}
int __wrap_memcmp(const void* a, const void* b, size_t bytes) {
  test::count_bytes(bytes);
  return __real_memcmp(a, b, bytes);
}

}  // extern "C"

void* operator new(size_t bytes) {
  test::count_bytes(bytes);
  void* taken = std::malloc(bytes);
  if (taken == nullptr) throw std::bad_alloc();
  return taken;
}
void operator delete(void* taken) noexcept { std::free(taken); }
void operator delete(void* taken, size_t) noexcept { std::free(taken); }
