// SPDX-License-Identifier: Apache-2.0
//
// mote's f32 linear kernel and XNNPACK's, over the same weights in the threads of one pool: a table of
// microseconds a call. mote_bench_xnnpack [SECONDS]: of each cell, whose two sides take turns until each took
// about so long; the 10th percentile counts.
//
// A call is an operation as a session runs it: the outputs cut in a slice for each thread, mote's weights
// read where they lie, XNNPACK's as its operators packed them. The calls walk over copies of the weights that
// exceed the last-level cache together, as the layers of a model do.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xnnpack.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <vector>

#include "kernels/dispatch.h"
#include "mote/posix.h"

namespace {

using namespace mote;

struct Shape {
  uint32_t outputs, inputs;
};
constexpr Shape kShapes[] = {{384, 384},  {1536, 384}, {384, 1536}, {768, 768},
                             {3072, 768}, {768, 3072}, {49152, 576}};
constexpr uint32_t kRowCounts[] = {1, 8, 32, 128, 384};
constexpr uint64_t kWeightBytes = uint64_t{96} << 20;  // of all copies

struct Free {
  void operator()(float* memory) const { free(memory); }
};
using Floats = std::unique_ptr<float, Free>;

Floats floats(uint64_t count) {
  Floats memory(static_cast<float*>(aligned_alloc(kAlignment, align_up(count * 4 + 64, kAlignment))));
  if (memory == nullptr) abort();
  for (uint64_t i = 0; i < count; ++i) memory.get()[i] = static_cast<float>(i * 2654435761u % 1024) / 512 - 1;
  return memory;
}

uint32_t slice_begin(Shape shape, uint32_t slice, uint32_t slices) {
  return (shape.outputs + kPanelRows - 1) / kPanelRows * slice / slices;
}

/// One weight and XNNPACK's operators of its slices.
class Matrix {
 public:
  Matrix(Shape shape, uint32_t slices) : shape_(shape), slices_(slices) {
    weight_ = floats(packed_bytes(DType::f32, shape.outputs, shape.inputs) / 4);
    for (uint32_t i = 0; i < slices; ++i) {
      const uint32_t begin = slice_begin(shape, i, slices) * kPanelRows;
      const uint32_t outputs = slice_begin(shape, i + 1, slices) * kPanelRows - begin;
      xnn_operator_t op = nullptr;
      if (xnn_create_fully_connected_nc_f32(shape.inputs, outputs, shape.inputs, shape.outputs,
                                            weight_.get() + uint64_t{begin} * shape.inputs, nullptr,
                                            -INFINITY, INFINITY, 0, &op) != xnn_status_success) {
        abort();
      }
      operators_.push_back(op);
    }
  }
  ~Matrix() {
    for (xnn_operator_t op : operators_) xnn_delete_operator(op);
  }
  Matrix(const Matrix&) = delete;
  Matrix& operator=(const Matrix&) = delete;

  void run_mote(const LinearArgs& shared, uint32_t slice) const {
    static const KernelEntry* const kKernel = find_kernel(Op::kLinear, DType::f32, DType::f32, best_isa());
    LinearArgs args = shared;
    args.weight = weight_.get();
    kernel_cast<LinearArgs>(kKernel)(
        args, {slice_begin(shape_, slice, slices_), slice_begin(shape_, slice + 1, slices_)}, nullptr);
  }
  void run_xnnpack(const LinearArgs& args, uint32_t slice) const {
    float* out = args.out.data + slice_begin(shape_, slice, slices_) * kPanelRows;
    if (xnn_setup_fully_connected_nc_f32(operators_[slice], args.rows, static_cast<const float*>(args.in),
                                         out, nullptr) != xnn_status_success ||
        xnn_run_operator(operators_[slice], nullptr) != xnn_status_success) {
      abort();
    }
  }

 private:
  Shape shape_;
  uint32_t slices_;
  Floats weight_;
  std::vector<xnn_operator_t> operators_;
};

/// A call to be forked.
struct Call {
  const Matrix* matrix;
  const LinearArgs* args;
  bool xnnpack;
  static void run_slice(void* context, uint32_t slice) {
    const auto* self = static_cast<const Call*>(context);
    if (self->xnnpack) {
      self->matrix->run_xnnpack(*self->args, slice);
    } else {
      self->matrix->run_mote(*self->args, slice);
    }
  }
};

double now_us() {
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// The 10th percentile: what a call takes when other programs leave it its core.
double undisturbed(std::vector<double> values) {
  const auto tenth = values.begin() + static_cast<ptrdiff_t>(values.size() / 10);
  std::nth_element(values.begin(), tenth, values.end());
  return *tenth;
}

void measure(Shape shape, const std::vector<std::unique_ptr<Matrix>>& matrices, mote_posix_pool* pool,
             uint32_t threads, double seconds) {
  const mote_platform platform = mote_posix_pool_platform(pool);
  for (const uint32_t rows : kRowCounts) {
    const Floats in = floats(uint64_t{rows} * shape.inputs), out = floats(uint64_t{rows} * shape.outputs);
    LinearArgs args = {};
    args.rows = rows;
    args.outputs = shape.outputs;
    args.inputs = shape.inputs;
    args.in = in.get();
    args.in_stride_bytes = shape.inputs * sizeof(float);
    args.out = {out.get(), shape.outputs * sizeof(float)};
    std::vector<double> times[2];
    double spent = 0;
    for (size_t turn = 0; spent < 2e6 * seconds || turn < 4 * matrices.size(); ++turn) {
      // All matrices in turn, by mote and then by XNNPACK.
      Call call{matrices[turn % matrices.size()].get(), &args, turn / matrices.size() % 2 == 1};
      const double begin = now_us();
      if (threads == 1) {
        Call::run_slice(&call, 0);
      } else {
        platform.parallel_for(platform.user, Call::run_slice, &call, threads);
      }
      const double us = now_us() - begin;
      spent += us;
      if (turn >= 2 * matrices.size()) times[call.xnnpack].push_back(us);
    }
    const double mote = undisturbed(times[0]), xnnpack = undisturbed(times[1]);
    std::printf("| %ux%u | %u | %u | %.0f | %.0f | %.2f |\n", shape.outputs, shape.inputs, threads, rows,
                mote, xnnpack, mote / xnnpack);
    std::fflush(stdout);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const double seconds = argc > 1 ? atof(argv[1]) : 1;
  if (xnn_initialize(nullptr) != xnn_status_success) return 1;
  std::printf(
      "| NxK | threads | rows | mote, us | XNNPACK, us | mote / XNNPACK |\n|---|---|---|---|---|---|\n");
  for (const Shape shape : kShapes) {
    for (const uint32_t threads : {1u, 2u}) {
      const uint64_t copies = kWeightBytes / packed_bytes(DType::f32, shape.outputs, shape.inputs) + 1;
      std::vector<std::unique_ptr<Matrix>> matrices;
      for (uint64_t i = 0; i < copies; ++i) matrices.push_back(std::make_unique<Matrix>(shape, threads));
      mote_posix_pool* pool = mote_posix_pool_create(threads);
      measure(shape, matrices, pool, threads, seconds);
      mote_posix_pool_destroy(pool);
    }
  }
}
