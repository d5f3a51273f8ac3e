// SPDX-License-Identifier: Apache-2.0
//
// The kernels that work on rows, as many as this CPU runs, on one thread:
//   attention_<types>/<isa>/<H>:<G>:<E>/depth:<positions>/rows:<T>   the last T positions of one sequence;
//   bytes_per_second
//                                                           counts the keys and values of a row block once
//   norm, gate, rope, quantize, kv_store /<isa>/<variant>/<width>     one row; bytes_per_second counts all
//   operands once
// A cache above the last-level cache's size is read from memory, as in decoding a model of many layers.
#include <benchmark/benchmark.h>
#include <stdlib.h>
#include <string.h>

#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "kernels/dispatch.h"
#include "schema/f16.h"

namespace {

using namespace mote;

struct Heads {
  uint32_t heads, kv_heads, width;
};
constexpr Heads kHeads[] = {{32, 8, 64}, {9, 3, 64}, {12, 12, 64}, {12, 12, 32}};
constexpr uint32_t kDepths[] = {128, 1024, 4096};
constexpr uint32_t kAttentionRows[] = {1, 64};
constexpr uint32_t kWidths[] = {576, 2048, 8192};

struct Free {
  void operator()(void* memory) const { free(memory); }
};
using Memory = std::unique_ptr<float, Free>;

/// Zeroed bytes in units of float, then floats of varied value if `fill`.
Memory make_floats(size_t count, bool fill = true) {
  const size_t bytes = align_up(count * sizeof(float), kAlignment);
  Memory memory(static_cast<float*>(aligned_alloc(kAlignment, bytes)));
  if (memory == nullptr) abort();
  for (size_t i = 0; i < bytes / sizeof(float); ++i) {
    memory.get()[i] = fill ? static_cast<float>(i * 37 % 101) / 64.0f - 0.75f : 0.0f;
  }
  return memory;
}

/// Floats, halves, or, of i8, words that are four bytes as well as a scale of .008 to .016.
Memory make_cache(DType dtype, size_t bytes) {
  const size_t count = bytes / sizeof(float);
  if (dtype == DType::f32) return make_floats(count);
  Memory memory = make_floats(count, false);
  if (dtype == DType::i8) {
    for (size_t i = 0; i < count; ++i) {
      const uint32_t word = 0x3C000000u | static_cast<uint32_t>(i * 2654435761u) >> 9;
      memcpy(memory.get() + i, &word, sizeof word);
    }
    return memory;
  }
  for (size_t i = 0; i < 2 * count; ++i) {
    const uint16_t half = f16_from_f32(static_cast<float>(i * 37 % 101) / 64.0f - 0.75f);
    memcpy(reinterpret_cast<char*>(memory.get()) + 2 * i, &half, 2);
  }
  return memory;
}

void run_attention(benchmark::State& state, const KernelEntry& kernel, Heads shape, uint32_t depth,
                   uint32_t rows) {
  std::vector<uint32_t> pages((depth + kAttentionTile - 1) / kAttentionTile);
  std::iota(pages.begin(), pages.end(), 0u);
  const uint32_t tiles = static_cast<uint32_t>(pages.size());
  const size_t cache_bytes =
      static_cast<size_t>(tiles * shape.kv_heads * kAttentionTile * kv_bytes(kernel.b, shape.width));
  const Memory keys = make_cache(kernel.b, cache_bytes);
  const Memory values = make_cache(kernel.b, cache_bytes);
  const size_t width = shape.heads * shape.width;
  const Memory q = make_floats(rows * width);
  const Memory out = make_floats(rows * width);
  const Memory scratch = make_floats(
      kernel.scratch_bytes({0, 0, shape.heads / shape.kv_heads, shape.width, shape.width}) / sizeof(float));
  const std::vector<int32_t> sequences(rows, 0);
  std::vector<int32_t> positions(rows);
  for (uint32_t t = 0; t < rows; ++t) positions[t] = static_cast<int32_t>(depth - rows + t);
  AttentionArgs args = {};
  args.cache = {keys.get(),     values.get(),   pages.data(), tiles,
                kAttentionTile, shape.kv_heads, shape.width,  shape.width};
  args.heads = shape.heads;
  args.scale = 0.125f;
  args.rows = rows;
  args.positions = args.last_seen = positions.data();
  args.sequences = sequences.data();
  args.q = {q.get(), width * sizeof(float)};
  args.out = {out.get(), width * sizeof(float)};
  const uint32_t blocks = (rows + kAttentionRowBlock - 1) / kAttentionRowBlock;
  for (auto _ : state) {
    kernel_cast<AttentionArgs> (&kernel)(args, {0, shape.kv_heads * blocks}, scratch.get());
    benchmark::ClobberMemory();
  }
  const size_t bytes = 2 * cache_bytes * blocks;
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations()) * static_cast<int64_t>(bytes));
  state.counters["FMA/s"] = benchmark::Counter(2.0 * rows * static_cast<double>(width) * depth,
                                               benchmark::Counter::kIsIterationInvariantRate);
}

/// Runs one row of a kernel that moves `bytes`.
template <class Args>
void run_row(benchmark::State& state, const KernelEntry& kernel, const Args& args, size_t bytes) {
  for (auto _ : state) {
    kernel_cast<Args> (&kernel)(args, {0, 1}, nullptr);
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations()) * static_cast<int64_t>(bytes));
}

void run_norm(benchmark::State& state, const KernelEntry& kernel, NormKind kind, uint32_t width) {
  const Memory in = make_floats(width), weight = make_floats(width), out = make_floats(width);
  NormArgs args = {};
  args.kind = kind;
  args.eps = 1e-5f;
  args.groups = 1;
  args.width = width;
  args.weight = weight.get();
  args.bias = kind == NormKind::layer ? weight.get() : nullptr;
  args.in = {in.get(), 0};
  args.out = {out.get(), 0};
  run_row(state, kernel, args, (kind == NormKind::layer ? 4 : 3) * sizeof(float) * width);
}

void run_gate(benchmark::State& state, const KernelEntry& kernel, Activation activation, uint32_t width) {
  const Memory gate = make_floats(width), up = make_floats(width), out = make_floats(width);
  const GateArgs args = {activation, width, width, {gate.get(), 0}, {up.get(), 0}, {out.get(), 0}};
  run_row(state, kernel, args, 3 * sizeof(float) * width);
}

void run_rope(benchmark::State& state, const KernelEntry& kernel, RopeKind kind, uint32_t width) {
  const Memory table = make_floats(64), x = make_floats(width);
  for (uint32_t i = 0; i < 32; ++i) {  // a rotation: x stays bounded however often it is turned
    table.get()[i] = 0.8f;
    table.get()[32 + i] = 0.6f;
  }
  const RopeArgs args = {kind, width / 64, 64, 64, {table.get(), 0}, {x.get(), 0}};
  run_row(state, kernel, args, 2 * sizeof(float) * width);
}

void run_kv_store(benchmark::State& state, const KernelEntry& kernel, uint32_t width) {
  const Memory k = make_floats(width), v = make_floats(width);
  const size_t bytes = width / 64 * static_cast<size_t>(kv_bytes(kernel.b, 64));
  const Memory keys = make_cache(kernel.b, 128 * bytes), values = make_cache(kernel.b, 128 * bytes);
  const int32_t position = 77, sequence = 0;
  const uint32_t page = 0;
  const KvStoreArgs args = {{keys.get(), values.get(), &page, 1, kAttentionTile, width / 64, 64, 64},
                            &position,
                            &sequence,
                            {k.get(), 0},
                            {v.get(), 0}};
  run_row(state, kernel, args, 2 * (sizeof(float) * width + bytes));
}

/// With and without columns to multiply by.
void run_quantize(benchmark::State& state, const KernelEntry& kernel, bool scaled, uint32_t width) {
  const Memory in = make_floats(width), columns = make_floats(width);
  const size_t stride = buffer_row_bytes(kernel.b, width);
  const Memory out = make_floats(stride / sizeof(float));
  const QuantizeArgs args = {width, scaled ? columns.get() : nullptr, {in.get(), 0}, out.get(), stride};
  run_row(state, kernel, args, (scaled ? 2 : 1) * sizeof(float) * width + stride);
}

template <class Run, class... Values>
void add(const KernelEntry& kernel, const std::string& variant, Run run, Values... values) {
  const std::string name = std::string(kernel.name) + "/" + isa_name(kernel.isa) + "/" + variant;
  benchmark::RegisterBenchmark(name.c_str(),
                               [=, &kernel](benchmark::State& state) { run(state, kernel, values...); });
}

void add_attention(const KernelEntry& kernel) {
  for (const Heads shape : kHeads) {
    for (const uint32_t depth : kDepths) {
      for (const uint32_t rows : kAttentionRows) {
        add(kernel,
            std::to_string(shape.heads) + ":" + std::to_string(shape.kv_heads) + ":" +
                std::to_string(shape.width) + "/depth:" + std::to_string(depth) +
                "/rows:" + std::to_string(rows),
            run_attention, shape, depth, rows);
      }
    }
  }
}

void add_rows(const KernelEntry& kernel) {
  for (const uint32_t width : kWidths) {
    const std::string columns = std::to_string(width);
    if (kernel.op == Op::kNorm) {
      add(kernel, "rms/" + columns, run_norm, NormKind::rms, width);
      add(kernel, "layer/" + columns, run_norm, NormKind::layer, width);
    } else if (kernel.op == Op::kGate) {
      add(kernel, "silu/" + columns, run_gate, Activation::silu, width);
      add(kernel, "gelu/" + columns, run_gate, Activation::gelu, width);
      add(kernel, "gelu_tanh/" + columns, run_gate, Activation::gelu_tanh, width);
    } else if (kernel.op == Op::kRope) {
      add(kernel, "half/" + columns, run_rope, RopeKind::half, width);
      add(kernel, "interleaved/" + columns, run_rope, RopeKind::interleaved, width);
    } else if (kernel.op == Op::kQuantize) {
      add(kernel, columns, run_quantize, false, width);
      add(kernel, "columns/" + columns, run_quantize, true, width);
    } else if (kernel.op == Op::kKvStore) {
      add(kernel, columns, run_kv_store, width);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  uint32_t count;
  const KernelEntry* kernels = kernel_list(&count);
  for (uint32_t i = 0; i < count; ++i) {
    if (!isa_available(kernels[i].isa)) continue;
    if (kernels[i].op == Op::kAttention) {
      add_attention(kernels[i]);
    } else {
      add_rows(kernels[i]);
    }
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
