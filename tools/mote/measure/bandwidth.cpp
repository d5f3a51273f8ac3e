// SPDX-License-Identifier: Apache-2.0
//
// Each thread sums its part of the memory as four interleaved streams, which keeps more cache lines in flight
// than one does, or as one stream, which some prefetchers like better: the faster of the two counts. A line
// is four additions of 16 bytes, so a pass is bound by memory with the baseline instruction set too.
#include "tools/mote/measure/bandwidth.h"

#include <algorithm>
#include <atomic>
#include <cstddef>

#include "host/base/error.h"
#include "host/base/system.h"
#include "tools/mote/measure/timer.h"
#include "tools/mote/output.h"

namespace mote::cli {
namespace {

constexpr size_t kLine = 8;  // 64-bit words

using SumLines = uint64_t (*)(const uint64_t* words, size_t lines);

struct Pass {
  const uint64_t* words;
  size_t lines;
  uint32_t parts, sweeps;
  SumLines sum_lines;
  std::atomic<uint64_t> sum{0};  // keeps the reads from being optimised away
};

template <size_t kStreams>
uint64_t sum_streams(const uint64_t* words, size_t lines) {
  uint64_t sums[kLine] = {};
  const size_t length = lines / kStreams;
  for (size_t line = 0; line < length; ++line) {
    for (size_t stream = 0; stream < kStreams; ++stream) {
      const uint64_t* at = words + (stream * length + line) * kLine;
      for (size_t i = 0; i < kLine; ++i) sums[i] += at[i];
    }
  }
  uint64_t total = 0;
  for (const uint64_t sum : sums) total += sum;
  return total;
}

void read_part(void* context, uint32_t index) {
  Pass& pass = *static_cast<Pass*>(context);
  const size_t begin = pass.lines * index / pass.parts;
  const size_t end = pass.lines * (index + 1) / pass.parts;
  uint64_t sum = 0;
  for (uint32_t sweep = 0; sweep < pass.sweeps; ++sweep) {
    sum += pass.sum_lines(pass.words + begin * kLine, end - begin);
    __asm__ volatile("" ::: "memory");  // each sweep reads anew
  }
  pass.sum += sum;
}

double pass_ms(Pass& pass, const mote_platform& platform) {
  Timer timer;
  if (platform.parallel_for != nullptr) {
    platform.parallel_for(platform.user, read_part, &pass, pass.parts);
  } else {
    read_part(&pass, 0);
  }
  return timer.ms();
}

}  // namespace

double read_bandwidth(uint64_t bytes, const ThreadPool& pool) {
  constexpr double kMeasureMs = 250.0;
  constexpr uint64_t kPassBytes = uint64_t{16} << 20;  // long enough for starting the threads not to count
  const mote_platform platform = pool.platform();
  const size_t lines = std::max<uint64_t>(bytes / 64, 4u * pool.threads());
  void* memory = convert::map_memory(lines * 64);
  if (memory == nullptr)
    convert::fail("not enough memory: bench reads {} to measure the machine", human_bytes(bytes));
  auto* words = static_cast<uint64_t*>(memory);
  for (size_t i = 0; i < lines * kLine; ++i) words[i] = i;  // untouched pages would all be one page of zeros
  const auto sweeps = static_cast<uint32_t>(std::max<uint64_t>(1, kPassBytes / (lines * 64)));
  const uint32_t parts = platform.parallel_for == nullptr ? 1 : pool.threads();
  constexpr SumLines kSums[] = {sum_streams<1>, sum_streams<4>};
  double best_ms = 0.0;
  for (const SumLines sum_lines : kSums) {
    Pass pass{words, lines, parts, sweeps, sum_lines};
    Timer timer;
    for (int passes = 0; passes < 3 || timer.ms() < kMeasureMs; ++passes) {
      const double ms = pass_ms(pass, platform);
      if (best_ms == 0.0 || ms < best_ms) best_ms = ms;
    }
  }
  convert::unmap_memory(memory, lines * 64);
  return per_second(static_cast<double>(lines * 64) * sweeps, best_ms);
}

}  // namespace mote::cli
