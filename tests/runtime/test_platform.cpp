// SPDX-License-Identifier: Apache-2.0
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>
#include <vector>

#include "mote/posix.h"
#include "tests/support/failing_threads.h"
#include "tests/support/thread_pool.h"
#include "tests/support/unity_style.h"

static void setUp() { unsetenv("MOTE_ISA"); }
static void tearDown() { unsetenv("MOTE_ISA"); }

namespace {

/// What each index saw.
struct Calls {
  std::vector<uint32_t> times;
  std::vector<std::thread::id> threads;
  explicit Calls(uint32_t count) : times(count), threads(count) {}
  static void task(void* context, uint32_t index) {
    auto* calls = static_cast<Calls*>(context);
    ++calls->times[index];
    calls->threads[index] = std::this_thread::get_id();
  }
};

/// A thread, seen from outside.
struct Observed {
  pid_t id = 0;
  clockid_t clock{};

  static Observed this_thread() {
    Observed thread;
    thread.id = gettid();
    pthread_getcpuclockid(pthread_self(), &thread.clock);
    return thread;
  }

  bool sleeps() const {
    std::ifstream file("/proc/self/task/" + std::to_string(id) + "/stat");
    std::string stat;
    std::getline(file, stat);
    return stat.compare(stat.rfind(')') + 1, 3, " S ") == 0;
  }

  int64_t processor_ns() const {
    timespec used;
    clock_gettime(clock, &used);
    return int64_t{used.tv_sec} * 1000000000 + used.tv_nsec;
  }
};

void sleep_ms(long ms) {
  const timespec time = {ms / 1000, ms % 1000 * 1000000};
  nanosleep(&time, nullptr);
}

size_t threads_of_process() {
  const std::filesystem::directory_iterator tasks("/proc/self/task");
  return static_cast<size_t>(std::distance(begin(tasks), end(tasks)));
}

/// Once it has stayed the same: a thread that was joined may still be on its way out.
size_t settled_threads() {
  size_t last = threads_of_process();
  for (int same = 0; same < 200; ++same) {
    sleep_ms(1);
    const size_t now = threads_of_process();
    if (now != last) same = 0;
    last = now;
  }
  return last;
}

/// Whether the process soon has as many.
bool has_threads(size_t expected) {
  for (int looks = 0; looks < 10000 && threads_of_process() != expected; ++looks) sleep_ms(1);
  return threads_of_process() == expected;
}

}  // namespace

TEST("the default platform has one thread and leaves the kernel family open") {
  const mote_platform platform = mote_platform_default();
  TEST_ASSERT_EQUAL(1u, platform.threads);
  TEST_ASSERT_TRUE(platform.parallel_for == nullptr);
  TEST_ASSERT_EQUAL(MOTE_ISA_AUTO, platform.isa);
}

TEST("MOTE_ISA names the kernel family, an empty value none") {
  setenv("MOTE_ISA", "ref", 1);
  TEST_ASSERT_EQUAL(MOTE_ISA_REF, mote_platform_default().isa);
  setenv("MOTE_ISA", "avx2", 1);
  TEST_ASSERT_EQUAL(MOTE_ISA_AVX2, mote_platform_default().isa);
  setenv("MOTE_ISA", "", 1);
  TEST_ASSERT_EQUAL(MOTE_ISA_AUTO, mote_platform_default().isa);
}

TEST("an unknown name in MOTE_ISA is no kernel family") {
  setenv("MOTE_ISA", "avx3", 1);
  TEST_ASSERT_EQUAL(MOTE_ISA_UNKNOWN, mote_platform_default().isa);
}

TEST("a pool of one thread runs nothing in other threads") {
  for (uint32_t threads : {0u, 1u}) {
    const test::ThreadPool pool(threads);
    TEST_ASSERT_EQUAL(1u, pool.platform().threads);
    TEST_ASSERT_TRUE(pool.platform().parallel_for == nullptr);
  }
  TEST_ASSERT_EQUAL(1u, mote_posix_pool_platform(nullptr).threads);
  mote_posix_pool_destroy(nullptr);
}

namespace {

/// A task that ends when as many have begun as there are threads: no thread can do the share of another.
struct Meeting {
  explicit Meeting(uint32_t size) : count(size), calls(size) {}
  uint32_t count;
  std::atomic<uint32_t> present{0};
  Calls calls;
  static void task(void* context, uint32_t index) {
    auto* meeting = static_cast<Meeting*>(context);
    Calls::task(&meeting->calls, index);
    meeting->present.fetch_add(1);
    while (meeting->present.load() < meeting->count) sched_yield();
  }
};

}  // namespace

TEST("every thread of a pool takes part, the caller with index 0") {
  for (uint32_t threads = 2; threads <= 5; ++threads) {
    const test::ThreadPool pool(threads);
    const mote_platform platform = pool.platform();
    for (uint32_t times = 0; times < 3; ++times) {
      Meeting meeting(threads);
      platform.parallel_for(platform.user, Meeting::task, &meeting, threads);
      TEST_ASSERT_TRUE(meeting.calls.threads[0] == std::this_thread::get_id());
      for (uint32_t i = 0; i < threads; ++i) {
        for (uint32_t j = 0; j < i; ++j)
          TEST_ASSERT_TRUE(meeting.calls.threads[i] != meeting.calls.threads[j]);
      }
    }
  }
}

TEST(
    "parallel_for runs every index once, those alike modulo the threads on one thread, index 0 on the "
    "caller") {
  for (uint32_t threads = 2; threads <= 5; ++threads) {
    const test::ThreadPool pool(threads);
    const mote_platform platform = pool.platform();
    TEST_ASSERT_EQUAL(threads, platform.threads);
    for (uint32_t count = 0; count <= 3 * threads; ++count) {
      Calls calls(count);
      platform.parallel_for(platform.user, Calls::task, &calls, count);
      for (uint32_t i = 0; i < count; ++i) {
        TEST_ASSERT_EQUAL(1u, calls.times[i]);
        TEST_ASSERT_TRUE(calls.threads[i] == calls.threads[i % threads]);
      }
      if (count) TEST_ASSERT_TRUE(calls.threads[0] == std::this_thread::get_id());
    }
  }
}

TEST(
    "what a call wrote is seen by the next one, over many calls of changing width and pauses long enough to "
    "park") {
  constexpr uint32_t kThreads = 3;
  const test::ThreadPool pool(kThreads);
  const mote_platform platform = pool.platform();
  struct Chain {
    uint64_t value[kThreads + 1];  // plain memory: a missing barrier is a race
    uint32_t step;
  } chain = {};
  uint64_t expected = 0;
  for (uint32_t step = 0; step < 20000; ++step) {
    chain.step = step;
    const uint32_t count = 1 + step % kThreads;
    platform.parallel_for(
        platform.user,
        [](void* context, uint32_t index) {
          auto* c = static_cast<Chain*>(context);
          c->value[index] += c->step + index;
        },
        &chain, count);
    for (uint32_t i = 0; i < count; ++i) expected += step + i;
    if (step % 1000 == 0) sleep_ms(3);
  }
  TEST_ASSERT_EQUAL(expected, chain.value[0] + chain.value[1] + chain.value[2]);
}

TEST("the caller waits for the slowest thread") {
  struct Work {
    std::atomic<bool> caller_is_done{false};
    std::atomic<uint32_t> finished{0};
  };
  const test::ThreadPool pool(3);
  const mote_platform platform = pool.platform();
  for (uint32_t times = 0; times < 5; ++times) {
    Work work;
    platform.parallel_for(
        platform.user,
        [](void* context, uint32_t index) {
          auto* w = static_cast<Work*>(context);
          if (index == 0) {
            w->caller_is_done = true;  // and would return, if it did not wait
          } else {
            while (!w->caller_is_done) sched_yield();
            for (int i = 0; i < 1000; ++i) sched_yield();
          }
          w->finished.fetch_add(1, std::memory_order_relaxed);
        },
        &work, 3);
    TEST_ASSERT_EQUAL(3u, work.finished.load(std::memory_order_relaxed));
  }
}

TEST("idle threads fall asleep and use no processor time until the next call") {
  struct Threads {
    Meeting meeting{4};
    Observed seen[4];
  } threads;
  const test::ThreadPool pool(4);
  const mote_platform platform = pool.platform();
  platform.parallel_for(
      platform.user,
      [](void* context, uint32_t index) {
        auto* t = static_cast<Threads*>(context);
        t->seen[index] = Observed::this_thread();
        Meeting::task(&t->meeting, index);
      },
      &threads, 4);
  int64_t used[4];
  for (int i = 1; i < 4; ++i) {
    while (!threads.seen[i].sleeps()) sleep_ms(1);
    used[i] = threads.seen[i].processor_ns();
  }
  sleep_ms(50);
  for (int i = 1; i < 4; ++i) {
    TEST_ASSERT_TRUE(threads.seen[i].sleeps());
    TEST_ASSERT_EQUAL(used[i], threads.seen[i].processor_ns());
  }
}

TEST("a call that comes while the pool serves another thread's runs on its caller, each index once") {
  Calls other(5);
  std::thread::id other_caller;
  const test::ThreadPool pool(3);
  pool.run(3, [&](uint32_t index) {
    if (index != 0) return;
    std::thread caller([&] {
      other_caller = std::this_thread::get_id();
      pool.run(5, [&](uint32_t i) { Calls::task(&other, i); });
    });
    caller.join();  // the pool is taken all the time
  });
  for (uint32_t i = 0; i < 5; ++i) {
    TEST_ASSERT_EQUAL(1u, other.times[i]);
    TEST_ASSERT_TRUE(other.threads[i] == other_caller);
  }
  Meeting meeting(3);  // all threads are there for the next call
  pool.run(3, [&](uint32_t index) { Meeting::task(&meeting, index); });
}

TEST("a task may call its own pool: the calls run in it, one after the other") {
  Calls inner[3] = {Calls(4), Calls(4), Calls(4)}, outer(3);
  const test::ThreadPool pool(3);
  pool.run(3, [&](uint32_t index) {
    Calls::task(&outer, index);
    pool.run(4, [&](uint32_t i) { Calls::task(&inner[index], i); });
  });
  for (uint32_t task = 0; task < 3; ++task) {
    for (uint32_t i = 0; i < 4; ++i) {
      TEST_ASSERT_EQUAL(1u, inner[task].times[i]);
      TEST_ASSERT_TRUE(inner[task].threads[i] == outer.threads[task]);
    }
  }
}

TEST("threads that call one pool again and again have every index of every call run once") {
  const test::ThreadPool pool(3);
  const mote_platform platform = pool.platform();
  std::atomic<uint32_t> wrong{0};
  std::vector<std::thread> callers;
  for (uint32_t caller = 0; caller < 3; ++caller) {
    callers.emplace_back([&] {
      for (uint32_t step = 0; step < 2000; ++step) {
        Calls calls(1 + step % 5);
        platform.parallel_for(platform.user, Calls::task, &calls, 1 + step % 5);
        for (const uint32_t times : calls.times) wrong += times != 1;
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  TEST_ASSERT_EQUAL(0u, wrong.load());
}

TEST("a pool that does not get all its threads is not made, says why and leaves none behind") {
  sigset_t before, after;
  pthread_sigmask(SIG_SETMASK, nullptr, &before);
  mote_posix_pool_destroy(mote_posix_pool_create(2));  // ThreadSanitizer's own thread comes with the first
  const size_t threads = settled_threads();
  for (int started = 0; started < 4; ++started) {
    CAPTURE(started);
    const test::ThreadLimit limit(started);
    errno = 0;
    TEST_ASSERT_NULL(mote_posix_pool_create(5));
    TEST_ASSERT_EQUAL(EAGAIN, errno);
    TEST_ASSERT_TRUE(has_threads(threads));
    pthread_sigmask(SIG_SETMASK, nullptr, &after);
    for (int signal : {SIGINT, SIGTERM, SIGUSR1})
      TEST_ASSERT_EQUAL(sigismember(&before, signal), sigismember(&after, signal));
  }
  const test::ThreadLimit limit(4);
  const test::ThreadPool pool(5);
  TEST_ASSERT_EQUAL(5u, pool.platform().threads);
  TEST_ASSERT_TRUE(has_threads(threads + 4));
}

TEST("pool threads take no signals and leave the caller's mask alone") {
  sigset_t before, after;
  pthread_sigmask(SIG_SETMASK, nullptr, &before);
  const test::ThreadPool pool(2);
  pthread_sigmask(SIG_SETMASK, nullptr, &after);
  TEST_ASSERT_EQUAL(sigismember(&before, SIGINT), sigismember(&after, SIGINT));
  const mote_platform platform = pool.platform();
  struct Masks {
    Meeting meeting{2};
    int blocked[2] = {-1, -1};
  } masks;
  platform.parallel_for(
      platform.user,
      [](void* context, uint32_t index) {
        auto* m = static_cast<Masks*>(context);
        sigset_t mask;
        pthread_sigmask(SIG_SETMASK, nullptr, &mask);
        m->blocked[index] = sigismember(&mask, SIGINT);
        Meeting::task(&m->meeting, index);
      },
      &masks, 2);
  TEST_ASSERT_EQUAL(sigismember(&before, SIGINT), masks.blocked[0]);
  TEST_ASSERT_EQUAL(1, masks.blocked[1]);
}

TEST("the big cores are among those that the process may use") {
  cpu_set_t cores;
  TEST_ASSERT_EQUAL(0, sched_getaffinity(0, sizeof cores, &cores));
  TEST_ASSERT_TRUE(mote_posix_big_cores() >= 1);
  TEST_ASSERT_TRUE(mote_posix_big_cores() <= static_cast<uint32_t>(CPU_COUNT(&cores)));

  cpu_set_t one;
  CPU_ZERO(&one);
  for (int core = 0; core < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++core) {
    if (CPU_ISSET(core, &cores)) CPU_SET(core, &one);
  }
  TEST_ASSERT_EQUAL(0, sched_setaffinity(0, sizeof one, &one));
  TEST_ASSERT_EQUAL(1u, mote_posix_big_cores());
  TEST_ASSERT_EQUAL(0, sched_setaffinity(0, sizeof cores, &cores));
}
