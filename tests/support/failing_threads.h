// SPDX-License-Identifier: Apache-2.0
//
// pthread_create that fails when a test wants it to: linked with --wrap=pthread_create, so that calls of the
// platform's library come here. For one source of an executable.
#pragma once

#include <errno.h>
#include <pthread.h>

#include <atomic>

namespace test {

/// Calls of pthread_create that still succeed; -1: all.
inline std::atomic<int> threads_left{-1};

/// From here to the end of the scope `count` threads can be started.
struct ThreadLimit {
  explicit ThreadLimit(int count) { threads_left = count; }
  ~ThreadLimit() { threads_left = -1; }
};

}  // namespace test

extern "C" {

int __real_pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*run)(void*),
                          void* argument);

int __wrap_pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*run)(void*),
                          void* argument) {
  if (test::threads_left == 0) return EAGAIN;
  if (test::threads_left > 0) --test::threads_left;
  return __real_pthread_create(thread, attributes, run, argument);
}

}  // extern "C"
