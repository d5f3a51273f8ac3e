// SPDX-License-Identifier: Apache-2.0
//
// Each loop keeps twelve independent chains of the family's widest multiply-add going: more than latency (4
// or 5 cycles) times throughput (2 a cycle), and few enough for sixteen registers. AVX2's maddubs is counted
// alone: adding its pairs up is overhead, as everything else in a kernel is.
#include "tools/mote/measure/dot_rate.h"

#include <algorithm>
#include <atomic>

#include "tools/mote/measure/timer.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace mote::cli {
namespace {

constexpr int kChains = 12;
constexpr uint64_t kRounds = 200'000;

/// Multiply-adds of kRounds rounds; `sink` keeps them from being optimised away.
using Loop = uint64_t (*)(std::atomic<uint32_t>& sink);

#if defined(__x86_64__)

// The empty statements keep the chains in registers and the rounds apart. Unrolled early, or GCC 12 keeps the
// array in memory too and the stores are what is measured.
#define MOTE_CHAINS(type, start, step)                                          \
  type chains[kChains];                                                         \
  _Pragma("GCC unroll 12") for (int i = 0; i < kChains; ++i) chains[i] = start; \
  for (uint64_t round = 0; round < kRounds; ++round) {                          \
    _Pragma("GCC unroll 12") for (int i = 0; i < kChains; ++i) {                \
      type chain = chains[i];                                                   \
      chain = step;                                                             \
      __asm__ volatile("" : "+v"(chain));                                       \
      chains[i] = chain;                                                        \
    }                                                                           \
  }

__attribute__((target("avx2,fma"))) uint64_t int8_avx2(std::atomic<uint32_t>& sink) {
  const __m256i one = _mm256_set1_epi8(1);
  MOTE_CHAINS(__m256i, one, _mm256_maddubs_epi16(chain, one))
  sink += static_cast<uint32_t>(_mm256_extract_epi32(chains[0], 0));
  return kRounds * kChains * 32;
}

__attribute__((target("avx2,fma"))) uint64_t f32_avx2(std::atomic<uint32_t>& sink) {
  const __m256 one = _mm256_set1_ps(1.0f);
  MOTE_CHAINS(__m256, one, _mm256_fmadd_ps(one, one, chain))
  sink += static_cast<uint32_t>(_mm256_cvtss_f32(chains[0]));
  return kRounds * kChains * 8;
}

__attribute__((target("avx512f,avx512vnni"))) uint64_t int8_avx512(std::atomic<uint32_t>& sink) {
  const __m512i one = _mm512_set1_epi8(1);
  MOTE_CHAINS(__m512i, one, _mm512_dpbusd_epi32(chain, one, one))
  sink += static_cast<uint32_t>(_mm512_cvtsi512_si32(chains[0]));
  return kRounds * kChains * 64;
}

__attribute__((target("avx512f"))) uint64_t f32_avx512(std::atomic<uint32_t>& sink) {
  const __m512 one = _mm512_set1_ps(1.0f);
  MOTE_CHAINS(__m512, one, _mm512_fmadd_ps(one, one, chain))
  sink += static_cast<uint32_t>(_mm512_cvtss_f32(chains[0]));
  return kRounds * kChains * 16;
}

#undef MOTE_CHAINS

#endif

struct Pass {
  Loop loop;
  std::atomic<uint64_t> multiply_adds{0};
  std::atomic<uint32_t> sink{0};
};

void run_part(void* context, uint32_t) {
  Pass& pass = *static_cast<Pass*>(context);
  pass.multiply_adds += pass.loop(pass.sink);
}

double rate(Loop loop, const ThreadPool& pool) {
  constexpr double kMeasureMs = 100.0;
  const mote_platform platform = pool.platform();
  double best = 0.0;
  Timer whole;
  for (int passes = 0; passes < 3 || whole.ms() < kMeasureMs; ++passes) {
    Pass pass{loop};
    Timer timer;
    if (platform.parallel_for != nullptr) {
      platform.parallel_for(platform.user, run_part, &pass, pool.threads());
    } else {
      run_part(&pass, 0);
    }
    best = std::max(best, per_second(static_cast<double>(pass.multiply_adds), timer.ms()));
  }
  return best;
}

}  // namespace

DotRate dot_rate(const ThreadPool& pool) {
#if defined(__x86_64__)
  // The machine's limit, not the kernels': the reference is measured against it too.
  const bool wide = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vnni");
  if (wide) return {rate(int8_avx512, pool), rate(f32_avx512, pool)};
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    return {rate(int8_avx2, pool), rate(f32_avx2, pool)};
#endif
  (void)rate, (void)pool;
  return {};
}

}  // namespace mote::cli
