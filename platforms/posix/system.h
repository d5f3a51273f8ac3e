// SPDX-License-Identifier: Apache-2.0
//
// Gives the pool of threads what it asks of a POSIX system; platforms/windows/system.h does so on Windows.
#pragma once

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <initializer_list>

namespace {

int64_t now_ns() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<int64_t>(now.tv_sec) * 1000000000 + now.tv_nsec;
}

/// Returns how often threads of this process have been taken from a core that they would have kept.
long preemptions() {
  rusage usage;
  return getrusage(RUSAGE_SELF, &usage) == 0 ? usage.ru_nivcsw : 0;
}

/// Blocks signals, so that an interrupt reaches the application's own threads, in threads that are started
/// while it lives; but a fault of a thread, such as reading a mapped file that was cut short, is for the
/// application's handler.
class BlockedSignals {
 public:
  BlockedSignals() {
    sigset_t all;
    sigfillset(&all);
    for (const int fault : {SIGBUS, SIGSEGV, SIGILL, SIGFPE}) sigdelset(&all, fault);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~BlockedSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;

 private:
  sigset_t before_;
};

/// Returns aligned memory, or null with errno.
void* allocate_aligned(size_t alignment, size_t bytes) {
  void* memory = nullptr;
  const int problem = posix_memalign(&memory, alignment, bytes);
  if (problem == 0) return memory;
  errno = problem;
  return nullptr;
}
void free_aligned(void* memory) { free(memory); }

#if defined(__linux__)

/// The highest clock of a core in kHz, 0 if unknown.
long highest_clock(int core) {
  char path[80];
  snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/cpufreq/cpuinfo_max_freq", core);
  FILE* file = fopen(path, "r");
  if (!file) return 0;
  long clock = 0;
  if (fscanf(file, "%ld", &clock) != 1) clock = 0;
  fclose(file);
  return clock;
}

/// The cores this process may use and whose highest clock is at least `least`; raises `highest` to the
/// fastest one's.
uint32_t count_cores(long least, long* highest) {
  cpu_set_t cores;
  if (sched_getaffinity(0, sizeof cores, &cores) != 0) {
    const long online = sysconf(_SC_NPROCESSORS_ONLN);  // more cores than cpu_set_t holds
    return online > 1 ? static_cast<uint32_t>(online) : 1;
  }
  uint32_t count = 0;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (!CPU_ISSET(core, &cores)) continue;
    const long clock = highest_clock(core);
    if (clock >= least) ++count;
    if (clock > *highest) *highest = clock;
  }
  return count;
}

#else

uint32_t count_cores(long, long*) {
  const long online = sysconf(_SC_NPROCESSORS_ONLN);
  return online > 1 ? static_cast<uint32_t>(online) : 1;
}

#endif

}  // namespace
