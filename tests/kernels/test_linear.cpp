// SPDX-License-Identifier: Apache-2.0
//
// Every linear kernel equals the reference bitwise with activation none and relu: the order of its fma is the
// contract's. (But for those of floats in families without fused multiply-add, which are checked as the
// reference is.) With the others the activation may differ by 2^-19 of its argument. The reference is within
// (K + 8) 2^-24 sum |w x| of the sum in double precision, in q8c within 8 2^-24 sum |w x|.
#include <float.h>

#include "tests/support/activation.h"
#include "tests/support/linear_case.h"
#include "tests/support/paired_floats.h"
#include "tests/support/plain_tiles.h"
#include "tests/support/plain_vnni.h"
#include "tests/support/vnni_kernels.h"

namespace mote::testing {
namespace {

using Case = LinearCase;
using Operands = LinearOperands;

/// Calls check(entry) for each linear kernel that this CPU runs, and for those of vnni_kernels.h,
/// plain_tiles.h and paired_floats.h.
template <class Check>
void each_linear(Check check) {
  each_kernel(Op::kLinear, check);
  each_paired(Op::kLinear, check);
  const auto each_of = [&](const char* vectors, const KernelEntry* kernels, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) {
      INFO("kernel " << kernels[i].name << " over " << vectors);
      check(kernels[i]);
    }
  };
  if (!kTestsPlainVectors) return;
  each_of("16 plain lanes", kVnniKernels<PlainVnni<16>, Isa::kAvx512Vnni>, kVnniKernelCount);
  each_of("8 plain lanes", kVnniKernels<PlainVnni<8>, Isa::kAvxVnni>, kVnniKernelCount);
  each_of("plain tiles", kPlainAmxKernels, 4);
#if defined(__x86_64__)
  if (isa_available(Isa::kAvx512Vnni)) each_of("EVEX ymm", kEvexVnniKernels, kVnniKernelCount);
#endif
}

void check_against_double(const KernelEntry& entry, const Case& c, const Operands& operands,
                          const GuardedRows& out) {
  // Types with minima round the minimum's share of a group on its own: its terms are bounded by those of
  // scale and minimum. q8c rounds no sum but the last.
  const double terms = has_minimum(entry.b) ? 4.0 : entry.b == DType::q8c ? 0.0 : 1.0;
  double magnitude = 0;
  check_within(
      out,
      [&](size_t t, size_t n) {
        const double value = exact_activation(c.activation, operands.sum(t, n, &magnitude));
        return value + (c.residual ? static_cast<double>(operands.residual[t][n]) : 0.0);
      },
      [&](size_t t, size_t n) {
        operands.sum(t, n, &magnitude);
        const double residual = c.residual ? fabs(static_cast<double>(operands.residual[t][n])) : 0.0;
        return (terms * c.inputs + 8) * 0x1p-24 * magnitude * 1.2 + 0x1p-23 * residual;
      });
}

void check_against_reference(const KernelEntry& entry, const Case& c, const Operands& operands,
                             const GuardedRows& out) {
  if (entry.a == DType::f32 && !fuses(entry)) return check_against_double(entry, c, operands, out);
  GuardedRows expected(c.rows, c.outputs, Edge::start);
  operands.run(reference_of(entry), expected);
  if (c.activation == Activation::none || c.activation == Activation::relu) {
    check_same_bits(expected, out);
    return;
  }
  double magnitude = 0;
  check_within(
      out, [&](size_t t, size_t n) { return static_cast<double>(expected[t][n]); },
      [&](size_t t, size_t n) {
        const double argument = fabs(operands.sum(t, n, &magnitude));
        return 0x1p-19 * argument + 0x1p-23 * fabs(static_cast<double>(expected[t][n])) + 1e-7 * magnitude;
      });
}

void check_case(const KernelEntry& entry, const Case& c) {
  INFO("T " << c.rows << ", N " << c.outputs << ", K " << c.inputs << ", activation "
            << static_cast<int>(c.activation) << (c.bias ? ", bias" : "")
            << (c.residual ? ", residual" : ""));
  const Operands operands(entry, c);
  GuardedRows out(c.rows, c.outputs, c.edge);
  operands.run(entry, out);
  if (is_reference(entry)) {
    check_against_double(entry, c, operands, out);
  } else {
    check_against_reference(entry, c, operands, out);
  }
}

}  // namespace

TEST("linear meets the reference at every number of columns to two vectors and a tail", "[linear]") {
  each_linear([](const KernelEntry& entry) {
    for (uint32_t inputs = 1; inputs <= 70; ++inputs) {
      for (const uint32_t rows : {3u, 18u}) check_case(entry, {rows, 17, inputs});
    }
  });
}

TEST("linear meets the reference at every number of outputs", "[linear]") {
  each_linear([](const KernelEntry& entry) {
    for (uint32_t outputs = 1; outputs <= 50; ++outputs) {
      for (const uint32_t rows : {2u, 18u}) check_case(entry, {rows, outputs, 44});
    }
  });
}

TEST("linear meets the reference at every number of rows", "[linear][values]") {
  each_linear([](const KernelEntry& entry) {
    for (uint32_t rows = 0; rows <= 46; ++rows) check_case(entry, {rows, 33, 60});
  });
}

TEST("linear meets the reference at the shapes of models", "[linear][values]") {
  each_linear([](const KernelEntry& entry) {
    for (const uint32_t inputs : {36u, 44u, 60u, 64u, 576u}) {
      for (const uint32_t outputs : {1u, 15u, 16u, 17u, 100u}) {
        for (const uint32_t rows : {0u, 1u, 2u, 5u, 17u, 48u}) {
          for (const Edge edge : {Edge::start, Edge::end}) {
            if (is_wide(entry.b) && edge == Edge::start) continue;  // one edge is enough for types this alike
            check_case(entry, {rows, outputs, inputs, true, Activation::none, true, edge});
          }
        }
      }
    }
  });
}

TEST("linear meets the reference where columns are taken by blocks", "[linear][values]") {
#ifdef MOTE_SANITIZED  // sanitizers look at addresses, of which one of each kind is enough
  const std::vector<uint32_t> columns = {1028, 2052}, rows_of_case = {45};
#else
  const std::vector<uint32_t> columns = {1024, 1028, 2052, 3072}, rows_of_case = {31, 32, 45};
#endif
  each_linear([&](const KernelEntry& entry) {
    for (const uint32_t inputs : columns) {
      for (const uint32_t rows : rows_of_case) {
        if (is_wide(entry.b) && (inputs != 1028 || rows != 45)) continue;
        check_case(entry, {rows, 72, inputs, true, Activation::none, true, Edge::end});
      }
    }
  });
}

TEST("linear fuses bias, activation and residual in any combination", "[linear][values]") {
  each_linear([](const KernelEntry& entry) {
    for (int activation = 0; activation <= 5; ++activation) {
      for (const bool bias : {false, true}) {
        for (const bool residual : {false, true}) {
          for (const uint32_t rows : {1u, 9u, 37u}) {
            check_case(entry, {rows, 37, 44, bias, static_cast<Activation>(activation), residual});
          }
        }
      }
    }
  });
}

TEST("linear without inputs is activation(bias) + residual", "[linear]") {
  each_linear([](const KernelEntry& entry) {
    if (entry.b != DType::f32) return;
    for (const Activation activation : {Activation::none, Activation::gelu, Activation::relu}) {
      for (const uint32_t outputs : {1u, 16u, 37u, 100u, 200u}) {
        for (const bool residual : {false, true}) {
          for (const uint32_t rows : {1u, 3u})
            check_case(entry, {rows, outputs, 0, true, activation, residual});
        }
      }
    }
  });
}

TEST("linear is exact at the ends of the integer range", "[linear][values]") {
  each_linear([](const KernelEntry& entry) {
    for (const Fill weight : {Fill::lowest, Fill::highest}) {
      for (const Fill input : {Fill::lowest, Fill::highest, Fill::opposed, Fill::least}) {
        for (const uint32_t rows : {1u, 7u, 16u}) {
          // (Tiles in plain C++ take their time.)
          const bool all_columns = rows != 16 && (input == Fill::least || input == Fill::highest);
          const uint32_t inputs = entry.a != DType::q8c ? 256 : all_columns ? kMaxColumnsQ8c : 8192;
          Case c{rows, 32, inputs};
          c.weight_fill = weight;
          c.input_fill = input;
          check_case(entry, c);
        }
      }
    }
  });
}

TEST("linear is exact where sums of products are about to leave int16", "[linear][values]") {
  each_linear([](const KernelEntry& entry) {
    if (entry.a == DType::f32) return;
    for (const Fill weight : {Fill::random, Fill::lowest, Fill::highest}) {
      for (const uint32_t rows : {2u, 3u, 4u, 150u}) {
        for (const uint32_t inputs : {60u, 400u}) {
          Case c{rows, 32, inputs};
          c.weight_fill = weight;
          c.input_fill = Fill::near_limit;
          check_case(entry, c);
        }
      }
    }
  });
}

TEST("linear takes any bytes and scales of activations, in padding too", "[linear]") {
  each_linear([](const KernelEntry& entry) {
    if (entry.a == DType::f32) return;
    for (const uint32_t rows : {1u, 2u, 3u, 6u, 13u, 16u, 40u}) {
      for (const uint32_t inputs : {60u, 64u, 390u}) {
        Case c{rows, 33, inputs};
        c.weight_fill = c.input_fill = Fill::any_byte;
        check_case(entry, c);
        const Operands operands(entry, c);
        const float scales[] = {NAN, INFINITY, -INFINITY, FLT_MAX, -FLT_MAX, FLT_TRUE_MIN, -0.0f};
        for (uint32_t i = 0; i < rows; ++i) *operands.quantized.scale(i, 32) = scales[i % 7];
        GuardedRows out(rows, c.outputs, c.edge);
        operands.run(entry, out);
        check_against_reference(entry, c, operands, out);
      }
    }
  });
}

TEST("linear takes any sum of activations, and only the row with a wrong one shows it", "[linear]") {
  each_linear([](const KernelEntry& entry) {
    if (entry.a == DType::f32) return;
    for (const uint32_t rows : {1u, 2u, 7u, 16u, 40u}) {
      Case c{rows, 33, 390};
      c.input_fill = Fill::any_byte;
      const Operands operands(entry, c);
      GuardedRows expected(rows, c.outputs, Edge::start), out(rows, c.outputs, c.edge);
      operands.run(reference_of(entry), expected);
      const int32_t sums[] = {INT32_MIN, INT32_MAX, -1 << 24, (1 << 24) + 1, 0x5A5A5A5A};
      const auto wrong = [](uint32_t row) { return row % 3 == 0; };
      for (uint32_t t = 0; t < rows; ++t) {
        for (uint32_t k = 0; k < c.inputs && wrong(t); k += 32)
          *operands.quantized.sum(t, k) = sums[(t + k / 32) % 5];
      }
      operands.run(entry, out);
      for (uint32_t t = 0; t < rows; ++t) {
        if (wrong(t)) {
          for (uint32_t n = 0; n < c.outputs; ++n) TEST_ASSERT_TRUE(isfinite(out[t][n]));
        } else {
          TEST_ASSERT_EQUAL_MEMORY(expected[t], out[t], c.outputs * sizeof(float));
        }
      }
      out.check_gaps();
      if (has_minimum(entry.b)) check_against_reference(entry, c, operands, out);  // sums are operands
    }
  });
}

TEST("linear gives the same bits however its panels are split", "[linear]") {
  each_linear([](const KernelEntry& entry) {
    for (const uint32_t rows : {1u, 5u, 17u}) {
      const Case c{rows, 100, 100};
      const Operands operands(entry, c);
      GuardedRows whole(c.rows, c.outputs, Edge::end);
      operands.run(entry, whole);
      for (const Split split : kSplits) {
        GuardedRows out(c.rows, c.outputs, Edge::end);
        operands.run(entry, out, split);
        check_same_bits(whole, out);
      }
    }
  });
}

TEST("linear gives a row the same bits alone and among others", "[linear][values]") {
  each_linear([](const KernelEntry& entry) {
    const Case c{19, 40, 96};
    const Operands operands(entry, c);
    GuardedRows all(c.rows, c.outputs, Edge::end);
    operands.run(entry, all);
    for (uint32_t t = 0; t < c.rows; ++t) {
      GuardedRows one(1, c.outputs, Edge::end);
      LinearArgs args = operands.args(one);
      args.rows = 1;
      args.in = static_cast<const char*>(args.in) + t * args.in_stride_bytes;
      args.residual.data = operands.residual[t];
      run_kernel(entry, args, operands.panels(), Split::whole, linear_scratch(entry, c.rows, c.inputs));
      TEST_ASSERT_EQUAL_MEMORY(all[t], one[0], c.outputs * 4);
    }
  });
}

TEST("linear finds its scratch prepared by a call for other panels", "[linear]") {
  each_linear([](const KernelEntry& entry) {
    for (const uint32_t rows : {1u, 7u, 19u, 165u, 330u}) {
      const Case c{rows, 100, 96};
      const Operands operands(entry, c);
      GuardedRows whole(c.rows, c.outputs, Edge::end), pieces(c.rows, c.outputs, Edge::end);
      operands.run(entry, whole);
      const GuardedBuffer scratch(align_up(linear_scratch(entry, c.rows, c.inputs), kAlignment), Edge::end);
      LinearArgs args = operands.args(pieces);
      for (const Range panels : {Range{3, 4}, Range{0, 2}, Range{4, 7}, Range{2, 3}}) {
        kernel_cast<LinearArgs> (&entry)(args, panels, scratch.data());
        args.scratch_is_ready = true;
      }
      for (uint32_t t = 0; t < c.rows; ++t) TEST_ASSERT_EQUAL_MEMORY(whole[t], pieces[t], c.outputs * 4);
    }
  });
}

TEST("linear of one row goes on in streams where another call ended", "[linear]") {
  each_linear([](const KernelEntry& entry) {
    const Case c{1, 300, 96};  // 19 panels: 4 in each stream, from 1 on, and 3 that are in none
    const Operands operands(entry, c);
    GuardedRows whole(1, c.outputs, Edge::end), pieces(1, c.outputs, Edge::end);
    operands.run(entry, whole);
    const GuardedBuffer scratch(align_up(linear_scratch(entry, c.rows, c.inputs), kAlignment), Edge::end);
    LinearArgs args = operands.args(pieces);
    for (const Range panels : {Range{0, 1}, Range{17, 19}})
      kernel_cast<LinearArgs> (&entry)(args, panels, scratch.data());
    args.stream = 4;
    for (const Range units : {Range{1, 2}, Range{2, 5}})
      kernel_cast<LinearArgs> (&entry)(args, units, scratch.data());
    TEST_ASSERT_EQUAL_MEMORY(whole[0], pieces[0], c.outputs * 4);
  });
}

TEST("linear may write over its residual", "[linear]") {
  each_linear([](const KernelEntry& entry) {
    for (const uint32_t rows : {1u, 6u, 21u, 44u}) {
      const Case c{rows, 50, 64};
      const Operands operands(entry, c);
      GuardedRows expected(c.rows, c.outputs, Edge::end);
      operands.run(entry, expected);
      operands.run(entry, operands.residual);
      check_same_bits(expected, operands.residual);
    }
  });
}

TEST("linear keeps NaN and infinity to the rows and outputs they belong to", "[linear]") {
  each_linear([](const KernelEntry& entry) {
    for (const float poison : {NAN, INFINITY, -INFINITY}) {
      Case c{9, 40, 100};
      c.bias = false;
      Operands operands(entry, c);
      if (entry.a == DType::f32) {
        operands.floats[3][99] = poison;
        operands.weight.set(21, 40, poison);
      } else {
        *operands.quantized.scale(3, 99) = poison;
        operands.weight.set_scale(21, 1, poison);
      }
      GuardedRows out(c.rows, c.outputs, Edge::end);
      operands.run(entry, out);
      for (uint32_t t = 0; t < c.rows; ++t) {
        for (uint32_t n = 0; n < c.outputs; ++n) {
          if (t == 3 || n == 21) {
            TEST_ASSERT_FALSE(isfinite(out[t][n]));
          } else {
            TEST_ASSERT_TRUE(isfinite(out[t][n]));
          }
        }
      }
      if (!is_reference(entry)) check_against_reference(entry, c, operands, out);
    }
  });
}

}  // namespace mote::testing
