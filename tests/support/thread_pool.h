// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mote/posix.h"
#include "tests/support/unity_style.h"

namespace test {

/// A pool of threads that ends with the object, also where an assertion fails.
class ThreadPool {
 public:
  explicit ThreadPool(uint32_t threads) : pool_(mote_posix_pool_create(threads)) {
    REQUIRE(pool_ != nullptr);
  }
  ~ThreadPool() { mote_posix_pool_destroy(pool_); }
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  mote_posix_pool* get() const { return pool_; }
  mote_platform platform() const { return mote_posix_pool_platform(pool_); }
  /// task(index) for each index below `count`, in the pool's threads.
  template <class Task>
  void run(uint32_t count, const Task& task) const {
    const mote_platform of_pool = platform();
    of_pool.parallel_for(
        of_pool.user, [](void* context, uint32_t index) { (*static_cast<const Task*>(context))(index); },
        const_cast<Task*>(&task), count);
  }

 private:
  mote_posix_pool* pool_;
};

}  // namespace test
