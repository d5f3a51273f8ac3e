// SPDX-License-Identifier: Apache-2.0
//
// Every linear kernel that this CPU runs, on one thread: <kernel>/<isa>/<N>x<K>/rows:<T>/<cold|warm>, and
// XNNPACK's beside them, where it is found: xnnpack_<f32|qs8>/<N>x<K>/... The limits of few and of many rows
// are read/<bytes>, the speed of a plain read of as many bytes, and maddubs, the products of bytes per second
// that the instruction gives alone. "cold" cycles over copies of the weight larger than the last-level cache
// together, as decoding a model does; "warm" uses one copy. bytes_per_second counts weights, MAC/s
// multiply-accumulates. Two that are to be compared on a machine that is not idle:
// --benchmark_enable_random_interleaving=true with
// --benchmark_repetitions.
#include "bench/linear.h"

#include <random>

#include "kernels/dispatch.h"

namespace {

using namespace mote;

/// Inputs [rows, width] of the type that the kernel takes, Laplace-distributed: the largest of a row is about
/// 5 times its root mean square, as in the layers of MiniLM. How long q8c takes on AVX2 depends on it
/// (quad_plan_avx2.inl.h).
Memory make_inputs(DType dtype, uint32_t rows, uint32_t width) {
  const size_t f32_stride = buffer_row_bytes(DType::f32, width);
  Memory in = filled(rows * f32_stride);
  std::minstd_rand random(1);
  std::exponential_distribution<float> magnitude;
  for (uint32_t row = 0; row < rows; ++row) {
    auto* floats = reinterpret_cast<float*>(in.get() + row * f32_stride);
    for (uint32_t k = 0; k < width; ++k)
      floats[k] = random() % 2 == 0 ? magnitude(random) : -magnitude(random);
  }
  if (dtype == DType::f32) return in;
  const size_t stride = buffer_row_bytes(dtype, width);
  Memory quantized = filled(rows * stride);
  const KernelEntry* quantize = find_kernel(Op::kQuantize, DType::f32, dtype, Isa::kRef);
  kernel_cast<QuantizeArgs>(quantize)(
      {width, nullptr, {reinterpret_cast<float*>(in.get()), f32_stride}, quantized.get(), stride}, {0, rows},
      nullptr);
  return quantized;
}

void run_linear(benchmark::State& state, const KernelEntry& kernel, Shape shape, uint32_t rows, bool cold) {
  const uint64_t bytes = packed_bytes(kernel.b, shape.outputs, shape.inputs);
  const uint64_t copies = cold ? cold_copies(bytes) : 1;
  const Memory weights = filled(copies * bytes);
  const Memory in = make_inputs(kernel.a, rows, shape.inputs);
  const size_t out_stride = buffer_row_bytes(DType::f32, shape.outputs);
  const Memory out = filled(rows * out_stride);
  const Memory scratch = filled(kernel.scratch_bytes({rows, shape.inputs, 0, 0, 0}));
  const uint32_t panels = static_cast<uint32_t>(align_up(shape.outputs, kPanelRows) / kPanelRows);
  LinearArgs args = {};
  args.rows = rows;
  args.outputs = shape.outputs;
  args.inputs = shape.inputs;
  args.in = in.get();
  args.in_stride_bytes = buffer_row_bytes(kernel.a, shape.inputs);
  args.out = {reinterpret_cast<float*>(out.get()), out_stride};
  uint64_t copy = 0;
  for (auto _ : state) {
    args.weight = weights.get() + copy * bytes;
    kernel_cast<LinearArgs> (&kernel)(args, {0, panels}, scratch.get());
    benchmark::ClobberMemory();
    copy = copy + 1 == copies ? 0 : copy + 1;
  }
  count_work(state, shape, rows, bytes);
}

void run_read(benchmark::State& state, uint64_t bytes) {
  const Memory memory = filled(bytes);
  const auto* words = reinterpret_cast<const uint64_t*>(memory.get());
  for (auto _ : state) {
    uint64_t x[8] = {};
    for (uint64_t i = 0; i + 8 <= bytes / 8; i += 8) {
      for (uint64_t j = 0; j < 8; ++j) x[j] ^= words[i + j];
    }
    for (const uint64_t word : x) benchmark::DoNotOptimize(word);
  }
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations()) * static_cast<int64_t>(bytes));
}

#ifdef __x86_64__
/// In assembly: a compiler keeps an array of vectors that it must not fold in memory.
void run_maddubs(benchmark::State& state) {
  for (auto _ : state) {
    for (uint32_t i = 0; i < 1024; ++i) {
      asm volatile(
          "vpmaddubsw %%ymm8, %%ymm8, %%ymm0\n\tvpmaddubsw %%ymm8, %%ymm8, %%ymm1\n\t"
          "vpmaddubsw %%ymm8, %%ymm8, %%ymm2\n\tvpmaddubsw %%ymm8, %%ymm8, %%ymm3\n\t"
          "vpmaddubsw %%ymm8, %%ymm8, %%ymm4\n\tvpmaddubsw %%ymm8, %%ymm8, %%ymm5\n\t"
          "vpmaddubsw %%ymm8, %%ymm8, %%ymm6\n\tvpmaddubsw %%ymm8, %%ymm8, %%ymm7" ::
              : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7");
    }
    asm volatile("vzeroupper");
  }
  state.counters["MAC/s"] =
      benchmark::Counter(1024.0 * 8 * 32, benchmark::Counter::kIsIterationInvariantRate);
}
#endif

void register_linear(const KernelEntry& kernel) {
  register_shapes(std::string(kernel.name) + "/" + isa_name(kernel.isa),
                  [&kernel](benchmark::State& state, Shape shape, uint32_t rows, bool cold) {
                    run_linear(state, kernel, shape, rows, cold);
                  });
}

}  // namespace

int main(int argc, char** argv) {
  for (const uint64_t bytes : {uint64_t{256} << 10, uint64_t{8} << 20, cold_copies(1)}) {
    benchmark::RegisterBenchmark(("read/" + std::to_string(bytes)).c_str(),
                                 [bytes](benchmark::State& state) { run_read(state, bytes); });
  }
#ifdef __x86_64__
  if (isa_available(Isa::kAvx2)) benchmark::RegisterBenchmark("maddubs", run_maddubs);
#endif
  uint32_t count = 0;
  const KernelEntry* kernels = kernel_list(&count);
  for (uint32_t i = 0; i < count; ++i) {
    if (kernels[i].op == Op::kLinear && isa_available(kernels[i].isa)) register_linear(kernels[i]);
  }
#ifdef MOTE_BENCH_XNNPACK
  register_xnnpack();
#endif
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
}
