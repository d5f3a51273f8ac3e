// SPDX-License-Identifier: Apache-2.0
//
// The operands of a linear op.
#pragma once

#include "tests/support/kernel_test.h"
#include "tests/support/packed_weight.h"

namespace mote::testing {

struct LinearCase {
  uint32_t rows, outputs, inputs;
  bool bias = true;
  Activation activation = Activation::none;
  bool residual = true;
  Edge edge = Edge::end;
  Fill weight_fill = Fill::random;
  Fill input_fill = Fill::random;
};

/// The operands of a linear op; `seed` fixes their values.
class LinearOperands {
 public:
  LinearOperands(const KernelEntry& entry, const LinearCase& c, uint32_t seed = 1)
      : case_(c),
        random_(seed),
        weight(entry.b, c.outputs, c.inputs, random_, c.weight_fill),
        quantized(entry.a == DType::f32 ? DType::q8g32 : entry.a, entry.a == DType::f32 ? 0 : c.rows,
                  c.inputs, random_, c.input_fill),
        floats(entry.a == DType::f32 ? c.rows : 0, c.inputs, c.edge),
        bias(1, align_up(c.outputs, kPanelRows), Edge::end),
        residual(c.rows, c.outputs, c.edge),
        is_quantized_(entry.a != DType::f32) {
    floats.fill([&](size_t, size_t) { return random_.uniform(-1.0f, 1.0f); });
    bias.fill([&](size_t, size_t n) { return n < c.outputs ? random_.uniform(-1.0f, 1.0f) : 0.0f; });
    residual.fill([&](size_t, size_t) { return random_.uniform(-1.0f, 1.0f); });
  }

  uint32_t panels() const { return (case_.outputs + 15) / 16; }

  LinearArgs args(const GuardedRows& out) const {
    const void* in = is_quantized_ ? quantized.data() : floats.const_view().data;
    const size_t stride = is_quantized_ ? quantized.stride_bytes() : floats.const_view().stride_bytes;
    return {weight.data(),
            case_.bias ? bias[0] : nullptr,
            case_.activation,
            case_.rows,
            case_.outputs,
            case_.inputs,
            in,
            stride,
            out.view(),
            case_.residual ? residual.const_view() : ConstRows{nullptr, 0},
            false,
            0};
  }

  void run(const KernelEntry& entry, const GuardedRows& out, Split split = Split::whole) const {
    run_kernel(entry, args(out), panels(), split, linear_scratch(entry, case_.rows, case_.inputs));
  }

  double input(size_t t, uint32_t k) const {
    const uint32_t row = static_cast<uint32_t>(t);
    return is_quantized_ ? quantized.value(row, k) : static_cast<double>(floats[t][k]);
  }

  /// The sum before the activation, and the sum of the absolute values of its terms.
  double sum(size_t t, size_t n, double* magnitude) const {
    double total = case_.bias ? static_cast<double>(bias[0][n]) : 0.0;
    *magnitude = fabs(total);
    // Of quantized types what pads the columns counts, too.
    const uint64_t columns = is_quantized_ ? activation_padded(case_.inputs) : case_.inputs;
    for (uint32_t k = 0; k < columns; ++k) {
      const double term = input(t, k) * weight.value(static_cast<uint32_t>(n), k);
      total += term;
      *magnitude += fabs(term);
    }
    return total;
  }

 private:
  LinearCase case_;
  Random random_;

 public:
  PackedWeight weight;
  QuantizedRows quantized;
  GuardedRows floats, bias, residual;

 private:
  bool is_quantized_;
};

}  // namespace mote::testing
