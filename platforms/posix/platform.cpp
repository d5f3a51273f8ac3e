// SPDX-License-Identifier: Apache-2.0
//
// The platforms posix and windows: MOTE_ISA, the number of useful cores, and a fork-join thread pool. Like
// the core it links without the C++ library.
#include <atomic>
#include <new>

#include "mote/posix.h"

#if defined(_WIN32)
#include "../windows/system.h"
#else
#include "system.h"
#endif

namespace {

// A thread spins so long before it parks: longer than the gap between two tokens, in which the next one is
// sampled and printed, because waking a parked thread is slow; much shorter than a scheduler's time slice.
constexpr int64_t kSpin_ns = 1000000;
// Longer than threads that all have a core wait for each other within an operation. A thread that waits
// longer checks whether another has lost its core; if so, it yields its own.
constexpr int64_t kShortSpin_ns = 20000;

void pause_briefly() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

/// A call of parallel_for, as its threads see it.
struct Call {
  mote_task task = nullptr;  // null ends the thread
  void* context = nullptr;
  uint32_t count = 0;

  /// Runs the share of the call that thread `thread` of `threads` takes.
  void run_share(uint32_t thread, uint32_t threads) const {
    for (uint32_t index = thread; index < count; index += threads) task(context, index);
  }
};

/// A number that one thread raises and one other waits for: it spins, then parks.
///
/// No wake-up is lost: the setter writes the value, then reads parked_; the waiter writes parked_, then reads
/// the value. Both are sequentially consistent, so one of them sees the other. They write by an exchange,
/// because QEMU reads ahead of an Arm store, which a processor does not. A setter that sees parked_ takes the
/// mutex, and the waiter holds it from its last look at the value until it sleeps.
class Signal {
 public:
  ~Signal() {
    pthread_cond_destroy(&wake_);
    pthread_mutex_destroy(&mutex_);
  }

  void set(uint32_t value) {
    value_.exchange(value);
    if (!parked_.load()) return;
    pthread_mutex_lock(&mutex_);
    pthread_mutex_unlock(&mutex_);
    pthread_cond_signal(&wake_);
  }

  /// Returns the value as soon as it is another than `old`.
  uint32_t wait_beyond(uint32_t old, bool spin) {
    if (spin && (spin_beyond(old, kShortSpin_ns) || (!preempted() && spin_beyond(old, kSpin_ns)))) {
      return value_.load();
    }
    pthread_mutex_lock(&mutex_);
    parked_.exchange(true);
    while (value_.load() == old) pthread_cond_wait(&wake_, &mutex_);
    parked_.store(false);
    pthread_mutex_unlock(&mutex_);
    return value_.load();
  }

 private:
  /// Since it was last asked.
  bool preempted() {
    const long before = preemptions_;
    preemptions_ = preemptions();
    return preemptions_ != before;
  }

  bool spin_beyond(uint32_t old, int64_t ns) {
    constexpr int kLooksPerClock = 32;  // reading the clock costs about as much as one pause
    const int64_t end = now_ns() + ns;
    do {
      for (int i = 0; i < kLooksPerClock; ++i) {
        if (value_.load(std::memory_order_acquire) != old) return true;
        pause_briefly();
      }
    } while (now_ns() < end);
    return false;
  }

  std::atomic<uint32_t> value_{0};
  std::atomic<bool> parked_{false};
  long preemptions_ = 0;  // seen by the waiter
  pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t wake_ = PTHREAD_COND_INITIALIZER;
};

/// One per thread besides the caller. Its share of a call is done by whoever claims it first: where other
/// programs keep the thread from its core, the caller does not wait for it to come but does the share itself.
///
/// A cache line that another core has written takes up to half a microsecond to come, and a call is a few:
/// what one of the two writes for the other lies in one line.
struct Worker {
  alignas(64) Call call;  // set before `start` is
  Signal start;           // set to the number of the call to take part in

  alignas(64) std::atomic<uint32_t> claimed{0};  // the last call whose share was claimed
  Signal done;                                   // set to it when the worker has finished a share

  alignas(64) uint32_t calls = 0;  // that it was given (one for fewer threads passes it by); the caller's
  uint32_t finished = 0;           // the last one that it was seen to finish; the caller's

  alignas(64) uint32_t index = 0;  // what stays as it is
  const mote_posix_pool* pool = nullptr;
  pthread_t thread{};

  /// True for one of the two who try. The fields of the call that the worker reads afterwards stay until it
  /// is done.
  bool claim(uint32_t number) {
    uint32_t last = number - 1;
    return claimed.load() == last && claimed.compare_exchange_strong(last, number);
  }
};

}  // namespace

struct alignas(64) mote_posix_pool {
  uint32_t threads = 1;
  bool spin = false;
  uint32_t started = 0;
  Worker* workers = nullptr;  // [threads - 1], of which the first `started` are made

  alignas(64) std::atomic<bool> taken{false};  // by a call, until it returns
};

namespace {

void* run_worker(void* argument) {
  auto* worker = static_cast<Worker*>(argument);
  const mote_posix_pool* pool = worker->pool;
  for (uint32_t number = 0;;) {
    number = worker->start.wait_beyond(number, pool->spin);
    if (!worker->claim(number)) continue;
    if (!worker->call.task) return nullptr;
    worker->call.run_share(worker->index, pool->threads);
    worker->done.set(number);
  }
}

/// Gives the next call to a worker.
void start(Worker* worker, const Call& call) {
  worker->call = call;
  worker->start.set(++worker->calls);
}

void pool_parallel_for(void* user, mote_task task, void* context, uint32_t count) {
  auto* pool = static_cast<mote_posix_pool*>(user);
  if (count == 0) return;
  const Call call{task, context, count};
  if (pool->taken.exchange(true, std::memory_order_acquire)) return call.run_share(0, 1);
  const uint32_t workers = (count < pool->threads ? count : pool->threads) - 1;
  for (uint32_t i = 0; i < workers; ++i) start(&pool->workers[i], call);
  call.run_share(0, pool->threads);
  for (uint32_t i = 0; i < workers; ++i) {
    Worker& worker = pool->workers[i];
    if (worker.claim(worker.calls)) {
      call.run_share(worker.index, pool->threads);
    } else {
      worker.finished = worker.done.wait_beyond(worker.finished, pool->spin);
    }
  }
  pool->taken.store(false, std::memory_order_release);
}

/// Starts the threads. 0, or why one could not be started.
int start_workers(mote_posix_pool* pool) {
  const BlockedSignals blocked;
  int problem = 0;
  while (problem == 0 && pool->started + 1 < pool->threads) {
    auto* worker = new (&pool->workers[pool->started]) Worker;
    worker->pool = pool;
    worker->index = pool->started + 1;
    problem = pthread_create(&worker->thread, nullptr, run_worker, worker);
    if (problem == 0) {
      ++pool->started;
    } else {
      worker->~Worker();
    }
  }
  return problem;
}

/// The pool, then its workers, in one block; each size is a multiple of its alignment. Null with errno.
void* allocate_pool(uint32_t threads) {
  // Fits 64 bits whatever `threads`, but not always the 32 of a narrow size_t.
  const uint64_t bytes = sizeof(mote_posix_pool) + uint64_t{threads - 1} * sizeof(Worker);
  if (bytes <= SIZE_MAX) return allocate_aligned(alignof(mote_posix_pool), static_cast<size_t>(bytes));
  errno = ENOMEM;
  return nullptr;
}

}  // namespace

uint32_t mote_posix_big_cores(void) {
  long highest = 0;
  count_cores(0, &highest);
  const uint32_t cores = count_cores(highest / 5 * 4, &highest);
  return cores > 0 ? cores : 1;
}

mote_platform mote_platform_default(void) {
  mote_platform platform = {};
  platform.threads = 1;
  const char* name = getenv("MOTE_ISA");
  if (name && *name && !mote_isa_from_name(name, &platform.isa)) platform.isa = MOTE_ISA_UNKNOWN;
  return platform;
}

mote_posix_pool* mote_posix_pool_create(uint32_t threads) {
  if (threads == 0) threads = 1;
  void* memory = allocate_pool(threads);
  if (!memory) return nullptr;
  auto* pool = new (memory) mote_posix_pool;
  pool->threads = threads;
  pool->workers = reinterpret_cast<Worker*>(pool + 1);
  long highest = 0;
  pool->spin = threads <= count_cores(0, &highest);  // spinning for a thread that has no core delays it
  const int problem = start_workers(pool);
  if (problem == 0) return pool;
  mote_posix_pool_destroy(pool);
  errno = problem;
  return nullptr;
}

void mote_posix_pool_destroy(mote_posix_pool* pool) {
  if (!pool) return;
  for (uint32_t i = 0; i < pool->started; ++i) start(&pool->workers[i], Call{});
  for (uint32_t i = 0; i < pool->started; ++i) pthread_join(pool->workers[i].thread, nullptr);
  for (uint32_t i = 0; i < pool->started; ++i) pool->workers[i].~Worker();
  free_aligned(pool);
}

mote_platform mote_posix_pool_platform(mote_posix_pool* pool) {
  mote_platform platform = mote_platform_default();
  if (!pool || pool->threads == 1) return platform;
  platform.user = pool;
  platform.parallel_for = pool_parallel_for;
  platform.threads = pool->threads;
  return platform;
}
