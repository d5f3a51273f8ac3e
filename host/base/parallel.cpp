// SPDX-License-Identifier: Apache-2.0
#include "host/base/parallel.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <thread>
#include <vector>

namespace mote::convert {

void parallel(uint32_t count, const std::function<void(uint32_t)>& work) {
  constexpr uint32_t kMostThreads = 8;  // a bound on memory; the disk is the limit by then
  const uint32_t threads = std::min({count, kMostThreads, std::max(1u, std::thread::hardware_concurrency())});
  std::atomic<uint32_t> next = 0;
  std::vector<std::exception_ptr> errors(threads);
  const auto run = [&](uint32_t thread) {
    try {
      for (uint32_t i = next++; i < count; i = next++) work(i);
    } catch (...) {
      errors[thread] = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> others;
    for (uint32_t thread = 1; thread < threads; ++thread) others.emplace_back(run, thread);
    run(0);
  }
  for (const std::exception_ptr& error : errors) {
    if (error) std::rethrow_exception(error);
  }
}

}  // namespace mote::convert
