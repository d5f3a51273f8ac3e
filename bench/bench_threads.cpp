// SPDX-License-Identifier: Apache-2.0
//
// fork/threads:<N>/<nothing|task>: a parallel_for of the posix pool with a share for each of its threads, one
// call after another, so that the threads spin between them as between the operations of a step. `task` is
// about a microsecond of arithmetic in each share: its time with N threads less its time with 1 is what a
// fork and its barrier cost. `nothing` shows the least that a call costs: the caller does the shares itself
// before any other thread has seen them. `elsewhere` is the part of the shares that other threads did.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <atomic>
#include <string>
#include <thread>

#include "mote/posix.h"

namespace {

constexpr uint32_t kTaskSteps = 1500;

struct Task {
  uint32_t steps;
  std::thread::id caller = std::this_thread::get_id();
  std::atomic<uint64_t> elsewhere{0};

  static void run_share(void* context, uint32_t index) {
    auto* self = static_cast<Task*>(context);
    uint64_t x = index;
    for (uint32_t i = 0; i < self->steps; ++i) benchmark::DoNotOptimize(x = x * 3 + 1);
    if (index > 0 && std::this_thread::get_id() != self->caller) {
      self->elsewhere.fetch_add(1, std::memory_order_relaxed);
    }
  }
};

void run_fork(benchmark::State& state, uint32_t threads, uint32_t steps) {
  mote_posix_pool* pool = mote_posix_pool_create(threads);
  if (pool == nullptr) return state.SkipWithError("no threads");
  const mote_platform platform = mote_posix_pool_platform(pool);
  Task task{steps};
  for (auto _ : state) {
    if (threads == 1) {
      Task::run_share(&task, 0);
    } else {
      platform.parallel_for(platform.user, Task::run_share, &task, threads);
    }
  }
  mote_posix_pool_destroy(pool);
  const double shares = static_cast<double>(state.iterations()) * (threads - 1);
  if (threads > 1) state.counters["elsewhere"] = static_cast<double>(task.elsewhere.load()) / shares;
}

}  // namespace

int main(int argc, char** argv) {
  for (uint32_t threads = 1; threads <= std::max(2u, mote_posix_big_cores()); threads *= 2) {
    for (const uint32_t steps : {0u, kTaskSteps}) {
      const std::string name =
          "fork/threads:" + std::to_string(threads) + (steps == 0 ? "/nothing" : "/task");
      benchmark::RegisterBenchmark(name.c_str(), [threads, steps](benchmark::State& state) {
        run_fork(state, threads, steps);
      })->UseRealTime();
    }
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
}
