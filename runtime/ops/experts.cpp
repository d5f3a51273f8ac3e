// SPDX-License-Identifier: Apache-2.0
#include "runtime/ops/experts.h"

#include <string.h>

namespace mote {
namespace {

/// A row that an expert multiplies.
struct Routed {
  uint32_t row;
  uint32_t slot;  // the expert's place among the row's
  float weight;
};

class ExpertsRun {
 public:
  ExpertsRun(const ExpertsArgs& args, const KernelEntry* kernel, Range units, void* scratch)
      : args_(args),
        kernel_(kernel_cast<LinearArgs>(kernel)),
        units_(units),
        rows_(expert_rows(args.linear.rows)),
        in_bytes_(static_cast<size_t>(buffer_row_bytes(args.in_type, args.linear.inputs))),
        out_bytes_(static_cast<size_t>(buffer_row_bytes(DType::f32, args.linear.outputs))),
        scratch_(scratch) {
    ScratchShape shape{};
    shape.rows = rows_;
    shape.inputs = args.linear.inputs;
    in_ = static_cast<char*>(scratch) + kernel->scratch_bytes(shape);
    out_ = in_ + rows_ * in_bytes_;
    slots_ = reinterpret_cast<uint32_t*>(out_ + rows_ * out_bytes_);
    const uint32_t end = units.end * kPanelRows;
    begin_ = units.begin * kPanelRows;
    end_ = end < args.linear.outputs ? end : args.linear.outputs;
  }

  void all() {
    if (args_.sums) begin_sums();
    memset(slots_, 0, args_.linear.rows * sizeof slots_[0]);
    for (uint32_t expert = 0; expert < args_.experts; ++expert) {
      uint32_t count = 0;
      for (uint32_t t = 0; t < args_.linear.rows; ++t) {
        const float weight = route(t, expert);
        if (weight == 0.0f) continue;
        if (slots_[t] == args_.chosen) continue;
        routed_[count++] = {t, slots_[t]++, weight};
        if (count < rows_) continue;
        multiply(expert, count);
        count = 0;
      }
      if (count > 0) multiply(expert, count);
    }
    if (!args_.sums) clear_slots();
  }

 private:
  float route(uint32_t row, uint32_t expert) const {
    return args_.routes.data == nullptr ? 1.0f : args_.routes[row][expert];
  }

  void begin_sums() {
    const size_t bytes = (end_ - begin_) * sizeof(float);
    for (uint32_t t = 0; t < args_.linear.rows; ++t) {
      float* out = args_.out[t] + begin_;
      if (args_.residual.data == nullptr) {
        memset(out, 0, bytes);
      } else if (args_.residual[t] + begin_ != out) {
        memcpy(out, args_.residual[t] + begin_, bytes);
      }
    }
  }

  /// Makes slots 0 that no expert has filled: where fewer have a weight than may be chosen.
  void clear_slots() {
    for (uint32_t t = 0; t < args_.linear.rows; ++t) {
      for (uint32_t slot = slots_[t]; slot < args_.chosen; ++slot)
        memset(args_.out[t] + size_t{slot} * args_.stride + begin_, 0, (end_ - begin_) * sizeof(float));
    }
  }

  /// The row's columns that the expert multiplies, as a row of their own.
  void gather(const Routed& routed, char* to) const {
    const uint32_t inputs = args_.linear.inputs;
    const char* row = static_cast<const char*>(args_.linear.in) + routed.row * args_.linear.in_stride_bytes;
    if (!args_.in_by_slot) {
      memcpy(to, row, args_.in_type == DType::f32 ? inputs * sizeof(float) : in_bytes_);
      return;
    }
    const uint64_t first = uint64_t{routed.slot} * inputs, width = uint64_t{args_.chosen} * inputs;
    if (args_.in_type == DType::f32) {
      memcpy(to, row + first * sizeof(float), inputs * sizeof(float));
      return;
    }
    const uint64_t group = first / kGroupColumns * 4;
    const size_t bytes = size_t{inputs} / kGroupColumns * 4;
    memcpy(to, row + first, inputs);
    memcpy(to + activation_scale_offset(inputs), row + activation_scale_offset(width) + group, bytes);
    memcpy(to + activation_sum_offset(inputs), row + activation_sum_offset(width) + group, bytes);
  }

  void multiply(uint32_t expert, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) gather(routed_[i], in_ + i * in_bytes_);
    LinearArgs linear = args_.linear;
    linear.weight = static_cast<const char*>(linear.weight) + expert * args_.weight_stride;
    if (linear.bias != nullptr) linear.bias += expert * align_up(linear.outputs, kPanelRows);
    linear.rows = count;
    linear.in = in_;
    linear.in_stride_bytes = in_bytes_;
    linear.out = {reinterpret_cast<float*>(out_), out_bytes_};
    run_kernel(linear);
    for (uint32_t i = 0; i < count; ++i)
      put(routed_[i], reinterpret_cast<const float*>(out_ + i * out_bytes_));
  }

  /// A single row reads its panels in streams.
  void run_kernel(LinearArgs& linear) const {
    Range rest = units_;
    const uint32_t length = (units_.end - units_.begin) / kLinearStreams;
    if (linear.rows == 1 && length > 0) {
      linear.stream = length;
      kernel_(linear, {units_.begin, units_.begin + length}, scratch_);
      linear.stream = 0;
      rest.begin += kLinearStreams * length;
    }
    if (rest.begin < rest.end) kernel_(linear, rest, scratch_);
  }

  void put(const Routed& routed, const float* y) const {
    float* out = args_.out[routed.row];
    if (!args_.sums) {
      memcpy(out + size_t{routed.slot} * args_.stride + begin_, y + begin_, (end_ - begin_) * sizeof(float));
      return;
    }
    for (uint32_t i = begin_; i < end_; ++i) {
      const float term = routed.weight * y[i];
      out[i] += term;
    }
  }

  const ExpertsArgs& args_;
  Kernel<LinearArgs> kernel_;
  Range units_;
  uint32_t rows_;
  size_t in_bytes_, out_bytes_;
  void* scratch_;
  char *in_, *out_;
  uint32_t* slots_;       // [rows] experts that each row has had: the place of its next
  uint32_t begin_, end_;  // columns of the units
  Routed routed_[kExpertRows];
};

}  // namespace

void run_experts(const ExpertsArgs& args, const KernelEntry* kernel, Range units, void* scratch) {
  ExpertsRun(args, kernel, units, scratch).all();
}

}  // namespace mote
