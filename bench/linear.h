// SPDX-License-Identifier: Apache-2.0
//
// The parts that the benchmarks of linear layers share, mote's and XNNPACK's: shapes, memory, names.
#pragma once

#include <benchmark/benchmark.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <string>

#include "kernels/ops.h"

struct Shape {
  uint32_t outputs, inputs;
};

/// The shapes of MiniLM, BERT-base, SmolLM2-135M with its head, and of a model of 1 B parameters.
constexpr Shape kShapes[] = {{384, 384}, {1536, 384}, {384, 1536}, {768, 768},   {3072, 768},  {768, 3072},
                             {576, 576}, {1536, 576}, {576, 1536}, {49152, 576}, {2048, 2048}, {8192, 2048}};
constexpr uint32_t kRowCounts[] = {1, 4, 8, 32, 64, 128, 384};

struct Free {
  void operator()(char* memory) const { free(memory); }
};
using Memory = std::unique_ptr<char, Free>;

/// Every byte 0x3C: 1.06 in f16, 0.0115 in f32, a harmless weight in the integer types.
inline Memory filled(uint64_t bytes) {
  Memory memory(static_cast<char*>(aligned_alloc(mote::kAlignment, mote::align_up(bytes, mote::kAlignment))));
  if (memory == nullptr) abort();
  memset(memory.get(), 0x3C, bytes);
  return memory;
}

/// Copies of a weight that exceed the last-level cache twice over.
inline uint64_t cold_copies(uint64_t bytes) {
  const long cache = sysconf(_SC_LEVEL3_CACHE_SIZE);
  const uint64_t cold =
      std::max<uint64_t>(uint64_t{64} << 20, 2 * static_cast<uint64_t>(std::max(cache, 0L)));
  return cold / bytes + 1;
}

/// Counts the work of every call of a layer with `bytes` of weights.
inline void count_work(benchmark::State& state, Shape shape, uint32_t rows, uint64_t bytes) {
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations()) * static_cast<int64_t>(bytes));
  state.counters["MAC/s"] = benchmark::Counter(static_cast<double>(rows) * shape.outputs * shape.inputs,
                                               benchmark::Counter::kIsIterationInvariantRate);
}

/// Registers run(state, shape, rows, cold) for every shape and number of rows, cold and warm.
template <class Run>
void register_shapes(const std::string& kernel, Run run) {
  for (const Shape shape : kShapes) {
    for (const uint32_t rows : kRowCounts) {
      for (const bool cold : {true, false}) {
        const std::string name = kernel + "/" + std::to_string(shape.outputs) + "x" +
                                 std::to_string(shape.inputs) + "/rows:" + std::to_string(rows) +
                                 (cold ? "/cold" : "/warm");
        benchmark::RegisterBenchmark(name.c_str(),
                                     [=](benchmark::State& state) { run(state, shape, rows, cold); });
      }
    }
  }
}

/// xnnpack_linear.cpp, where the library is found: xnnpack_<f32|qs8>, its fully connected operators.
void register_xnnpack();
