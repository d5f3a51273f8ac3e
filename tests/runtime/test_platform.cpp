// SPDX-License-Identifier: Apache-2.0
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <thread>
#include <vector>

#include "mote/posix.h"
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

double processor_seconds() {
  timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

void sleep_ms(long ms) {
  const timespec time = {ms / 1000, ms % 1000 * 1000000};
  nanosleep(&time, nullptr);
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
    mote_posix_pool* pool = mote_posix_pool_create(threads);
    TEST_ASSERT_TRUE(pool != nullptr);
    TEST_ASSERT_EQUAL(1u, mote_posix_pool_platform(pool).threads);
    TEST_ASSERT_TRUE(mote_posix_pool_platform(pool).parallel_for == nullptr);
    mote_posix_pool_destroy(pool);
  }
  TEST_ASSERT_EQUAL(1u, mote_posix_pool_platform(nullptr).threads);
  mote_posix_pool_destroy(nullptr);
}

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

TEST("every thread of a pool takes part, the caller with index 0") {
  for (uint32_t threads = 2; threads <= 5; ++threads) {
    mote_posix_pool* pool = mote_posix_pool_create(threads);
    TEST_ASSERT_TRUE(pool != nullptr);
    const mote_platform platform = mote_posix_pool_platform(pool);
    for (uint32_t times = 0; times < 3; ++times) {
      Meeting meeting(threads);
      platform.parallel_for(platform.user, Meeting::task, &meeting, threads);
      TEST_ASSERT_TRUE(meeting.calls.threads[0] == std::this_thread::get_id());
      for (uint32_t i = 0; i < threads; ++i) {
        for (uint32_t j = 0; j < i; ++j)
          TEST_ASSERT_TRUE(meeting.calls.threads[i] != meeting.calls.threads[j]);
      }
    }
    mote_posix_pool_destroy(pool);
  }
}

TEST(
    "parallel_for runs every index once, those alike modulo the threads on one thread, index 0 on the "
    "caller") {
  for (uint32_t threads = 2; threads <= 5; ++threads) {
    mote_posix_pool* pool = mote_posix_pool_create(threads);
    TEST_ASSERT_TRUE(pool != nullptr);
    const mote_platform platform = mote_posix_pool_platform(pool);
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
    mote_posix_pool_destroy(pool);
  }
}

TEST(
    "what a call wrote is seen by the next one, over many calls of changing width and pauses long enough to "
    "park") {
  constexpr uint32_t kThreads = 3;
  mote_posix_pool* pool = mote_posix_pool_create(kThreads);
  TEST_ASSERT_TRUE(pool != nullptr);
  const mote_platform platform = mote_posix_pool_platform(pool);
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
    if (step % 1000 == 0) sleep_ms(1);
  }
  TEST_ASSERT_EQUAL(expected, chain.value[0] + chain.value[1] + chain.value[2]);
  mote_posix_pool_destroy(pool);
}

TEST("the caller waits for the slowest thread") {
  mote_posix_pool* pool = mote_posix_pool_create(3);
  TEST_ASSERT_TRUE(pool != nullptr);
  const mote_platform platform = mote_posix_pool_platform(pool);
  std::atomic<uint32_t> finished{0};
  for (uint32_t i = 1; i <= 5; ++i) {
    platform.parallel_for(
        platform.user,
        [](void* context, uint32_t index) {
          sleep_ms(static_cast<long>(index) * 2);
          static_cast<std::atomic<uint32_t>*>(context)->fetch_add(1, std::memory_order_relaxed);
        },
        &finished, 3);
    TEST_ASSERT_EQUAL(3 * i, finished.load(std::memory_order_relaxed));
  }
  mote_posix_pool_destroy(pool);
}

TEST("idle threads use no processor time") {
  mote_posix_pool* pool = mote_posix_pool_create(4);
  TEST_ASSERT_TRUE(pool != nullptr);
  const mote_platform platform = mote_posix_pool_platform(pool);
  Calls calls(4);
  platform.parallel_for(platform.user, Calls::task, &calls, 4);
  sleep_ms(20);
  const double before = processor_seconds();
  sleep_ms(200);
  TEST_ASSERT_TRUE(processor_seconds() - before < 0.02);
  mote_posix_pool_destroy(pool);
}

TEST("pool threads take no signals and leave the caller's mask alone") {
  sigset_t before, after;
  pthread_sigmask(SIG_SETMASK, nullptr, &before);
  mote_posix_pool* pool = mote_posix_pool_create(2);
  TEST_ASSERT_TRUE(pool != nullptr);
  pthread_sigmask(SIG_SETMASK, nullptr, &after);
  TEST_ASSERT_EQUAL(sigismember(&before, SIGINT), sigismember(&after, SIGINT));
  const mote_platform platform = mote_posix_pool_platform(pool);
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
  mote_posix_pool_destroy(pool);
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
